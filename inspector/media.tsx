import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ReadingMedia } from "../src/inspect/data/reading-rows.ts";
import type { InspectorApi } from "./api.ts";

/** The types that are shown. SVG is not among them: it is a document that can hold scripts. */
const shownTypes = /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/(mp4|webm|ogg|quicktime))$/;

/** Stored media, loaded with the token and shown from memory. */
export const StoredMedia = ({
  api,
  media,
}: {
  readonly api: InspectorApi;
  readonly media: ReadingMedia;
}): VNode | null => {
  const [address, setAddress] = useState<string | undefined>(undefined);
  const isShown = media.hash !== undefined && shownTypes.test(media.mimeType);
  useEffect(() => {
    if (!isShown || media.hash === undefined) return undefined;
    let made: string | undefined;
    let isGone = false;
    void api.blob(media.hash, media.mimeType).then(
      (blob) => {
        if (isGone) return;
        made = URL.createObjectURL(blob);
        setAddress(made);
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [media.hash]);
  if (!isShown || address === undefined) return null;
  const name = media.name ?? media.id;
  switch (media.kind) {
    case "image":
      return <img src={address} alt={name} />;
    case "audio":
      return <audio controls src={address} aria-label={name} />;
    case "video":
      return <video controls src={address} aria-label={name} />;
    case "document":
      return null;
  }
};

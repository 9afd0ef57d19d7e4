import { fileURLToPath } from "node:url";
import { isAbsolute, basename, dirname } from "node:path";
import type { Blobs } from "../../../conversation/entry.ts";
import type { UserPart } from "../../../conversation/parts.ts";
import type { StoredMedia } from "../../../conversation/media.ts";
import type { World } from "../../../world/world.ts";

/** Size limit of an attached file. */
const maxFileBytes = 20 * 2 ** 20;

/** Files pasted or dropped into the message, each represented by a label until it is sent. */
export class PastedFiles {
  readonly #world: Pick<World, "disk" | "processes" | "env">;
  readonly #files = new Map<string, StoredMedia>();

  constructor(world: Pick<World, "disk" | "processes" | "env">) {
    this.#world = world;
  }

  /** Attaches the media file whose path was pasted and returns its label; undefined for plain text. */
  async paste(pasted: string): Promise<string | undefined> {
    const path = pathIn(pasted);
    if (path === undefined) return undefined;
    const bytes = await this.#read(path).catch(() => undefined);
    return bytes === undefined ? undefined : this.#add(bytes, basename(path));
  }

  /** Attaches the clipboard image and returns its label; undefined without one. */
  async pasteClipboardImage(): Promise<string | undefined> {
    const { readClipboardImage } = await import("./clipboard-image.ts");
    const bytes = await readClipboardImage(this.#world);
    return bytes === undefined ? undefined : this.#add(bytes, "clipboard.png");
  }

  /** Returns the files whose labels are still in the message, as parts. `restore` keeps them for a message that is edited again. */
  take(message: string): { readonly parts: readonly UserPart[]; readonly blobs: Blobs; readonly restore: () => void } {
    const named = [...this.#files].filter(([label]) => message.includes(label));
    this.#files.clear();
    return {
      parts: named.flatMap(([label, { media }]) => [{ type: "text", text: `${label}:` }, media]),
      blobs: Object.fromEntries(named.map(([, { blob }]) => [blob.hash, blob.base64])),
      restore: () => named.forEach(([label, file]) => this.#files.set(label, file)),
    };
  }

  async #add(bytes: Uint8Array, name: string): Promise<string | undefined> {
    const [{ sniffContentType, sniffLength }, { readImageSize }, { storeBytes }] = await Promise.all([
      import("../../../tools/files/sniff.ts"),
      import("../../../tools/files/image-size.ts"),
      import("../../../conversation/media.ts"),
    ]);
    const what = await sniffContentType(bytes.subarray(0, sniffLength), name);
    if (what.kind !== "media") return undefined;
    const { mimeType } = what;
    const label = `[${name.replaceAll(/[[\]\s]+/g, " ")} #${this.#files.size + 1}]`;
    this.#files.set(label, storeBytes(bytes, { mimeType, name, ...readImageSize(bytes, mimeType) }));
    return `${label} `;
  }

  async #read(path: string): Promise<Uint8Array | undefined> {
    const { disk } = this.#world;
    const canonical = await disk.canonicalPath(path);
    if (canonical === undefined) return undefined;
    const folder = await disk.openFolder(dirname(canonical));
    try {
      const file = await folder.openFile(basename(canonical));
      try {
        const { size } = await file.stat();
        return size > maxFileBytes ? undefined : await file.read(0, size);
      } finally {
        await file.close();
      }
    } finally {
      await folder.close();
    }
  }
}

/** The path a terminal pastes when a file is dropped: plain, quoted, with backslashes, or as a file URL. */
const pathIn = (pasted: string): string | undefined => {
  const word = pasted.trim();
  if (word.includes("\n") || word.length > 4096 || !media.test(word)) return undefined;
  const bare = /^'(.*)'$/.exec(word)?.[1] ?? /^"(.*)"$/.exec(word)?.[1] ?? word.replaceAll(/\\(.)/g, "$1");
  const path = bare.startsWith("file://") && URL.canParse(bare) ? fileURLToPath(bare) : bare;
  return isAbsolute(path) ? path : undefined;
};

const media = /\.(?:png|jpe?g|gif|webp|bmp|heic|tiff?|pdf|wav|mp3|flac|ogg|m4a|mp4|mov|webm|mkv)['"]?$/i;

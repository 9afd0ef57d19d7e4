import { describe, expect, it } from "vitest";
import { providers } from "./all.ts";
import { findProvider } from "./find.ts";
import type { ModelInput } from "./model-input.ts";

const kindsIn = (provider: string, model: string, input?: ModelInput): readonly string[] =>
  Object.keys(findProvider(provider).destination(model, undefined, [], input).target.media.user).toSorted();

describe("a model with described input", () => {
  it.each(providers.map(({ id, defaultModel }) => [id, defaultModel]))(
    "accepts exactly the described kinds: %s/%s",
    (id, model) => {
      expect(kindsIn(id, model, [])).toEqual([]);
      expect(kindsIn(id, model, ["image"])).toEqual(["image"]);
      const { media } = findProvider(id).destination(model, undefined, [], []).target;
      expect(Object.values(media).flatMap((row) => Object.keys(row))).toEqual([]);
    },
  );

  it("keeps the provider's limits of a kind, such as URLs and sizes", () => {
    const { user: known } = findProvider("anthropic").destination("claude-sonnet-5").target.media;
    const { user } = findProvider("anthropic").destination("claude-sonnet-5", undefined, [], ["image"]).target.media;
    expect(user).toEqual({ image: known.image });
  });

  it("accepts no kind that its API does not support", () => {
    expect(kindsIn("anthropic", "claude-sonnet-5", ["image", "audio", "video"])).toEqual(["image"]);
    expect(kindsIn("local", "my-model", ["audio", "video", "document"])).toEqual(["audio", "document", "video"]);
  });

  it("no longer counts as unknown", () => {
    const { destination } = findProvider("local");
    expect(destination("my-model").target.mediaUnknown).toBe(true);
    expect(destination("my-model", undefined, [], []).target).not.toHaveProperty("mediaUnknown");
  });
});

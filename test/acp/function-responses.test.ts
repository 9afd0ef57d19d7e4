import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useAcpSessions } from "./session-fixture.ts";

/*
 * A file that a tool returned, in requests of a session in an editor: where the model of each request takes it.
 */

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const at = useAcpSessions(["google", "anthropic", "openai", "openai-chat"]);

/** The names on the way to each value that holds the image, without indexes. */
const placesOf = (value: unknown, names: readonly string[] = []): readonly string[] => {
  if (typeof value === "string") return value.includes(dot) ? [names.join(".")] : [];
  if (Array.isArray(value)) return value.flatMap((each) => placesOf(each, names));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => placesOf(each, [...names, name]));
};

describe("an image that a tool returned", () => {
  it("is sent where each model takes it, after a switch of the model too", async () => {
    writeFileSync(join(at.project, "dot.png"), Buffer.from(dot, "base64"));
    await at.connect({}, { model: ["google/gemini-3.8-flash"] });
    const sessionId = await at.open();
    await at.client.prompt(sessionId, 'call read_file {"absolute_path":"dot.png"}');
    const places = [placesOf(at.stage.log.at(-1)?.entry.body)];
    for (const modelId of [
      "google/gemini-2.5-flash",
      "anthropic/claude-sonnet-5",
      "openai/gpt-5.6",
      "openai-chat/gpt-5.6",
    ]) {
      await at.client.request("session/set_model", { sessionId, modelId });
      expect(await at.client.prompt(sessionId, "Again.")).toEqual({ stopReason: "end_turn" });
      places.push(placesOf(at.stage.log.at(-1)?.entry.body));
    }
    expect(places).toEqual([
      ["contents.parts.functionResponse.parts.inlineData.data"],
      ["contents.parts.inlineData.data"],
      ["messages.content.content.source.data"],
      ["input.output.image_url"],
      ["messages.content.image_url.url"],
    ]);
  });
});

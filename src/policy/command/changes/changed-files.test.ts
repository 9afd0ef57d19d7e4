import { describe, expect, it } from "vitest";
import type { ResolvedPath } from "../../../tools/capabilities.ts";
import { createChangedFiles } from "./changed-files.ts";

/** Files in memory, and the paths that were looked up and opened. */
const createFiles = (texts: Record<string, string>) => {
  const asked: string[] = [];
  const opened: string[] = [];
  const files = {
    resolve: async (path: string): Promise<ResolvedPath> => {
      asked.push(path);
      const text = texts[path];
      const [kind, identity] = text === undefined ? (["absent", "absent"] as const) : (["file", text] as const);
      return { path, shown: path, kind, size: text?.length ?? 0, modified: 0, identity };
    },
    bytes: async (path: string): Promise<Uint8Array> => {
      opened.push(path);
      return Buffer.from(texts[path] ?? "");
    },
  };
  return { texts, asked, opened, changed: createChangedFiles(files) };
};

describe("files that commands may change", () => {
  it("are found if they changed, were created or were removed meanwhile", async () => {
    const { texts, changed } = createFiles({ kept: "1", edited: "1", removed: "1" });
    await changed.track(["kept", "edited", "removed", "created"], async () => {
      texts["edited"] = "2";
      texts["created"] = "1";
      delete texts["removed"];
    });
    expect(await changed.find(() => true)).toEqual(["edited", "removed", "created"]);
    texts["edited"] = "1";
    delete texts["created"];
    expect(await changed.find(() => true)).toEqual(["removed"]);
  });

  it("are not opened if there are none, and looked up once for commands that start together", async () => {
    const { asked, opened, changed } = createFiles({ Makefile: "all:" });
    let end = (): void => undefined;
    const running = new Promise<void>((resolve) => (end = resolve));
    const commands = [1, 2, 3].map(() => changed.track(["Makefile", "package.json"], () => running));
    await new Promise(setImmediate);
    expect({ asked, opened }).toEqual({ asked: ["Makefile", "package.json"], opened: ["Makefile"] });
    end();
    await Promise.all(commands);
    expect(asked.length).toBe(2 + 3 * 2);
  });
});

import type { World } from "../../../world/world.ts";

/** Programs that print the clipboard image. */
const programs: readonly (readonly [string, ...(readonly string[])])[] = [
  ["wl-paste", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
  ["pngpaste", "-"],
];

/** Size limit of a clipboard image. */
const maxImageBytes = 20 * 2 ** 20;

/** Returns the clipboard image; undefined without one or without a program to read it. */
export const readClipboardImage = async ({
  processes,
  env,
}: Pick<World, "processes" | "env">): Promise<Uint8Array | undefined> => {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  for (const [name, ...args] of programs) {
    const file = await processes.find(name, env["PATH"] ?? "");
    if (file === undefined) continue;
    const running = await processes.start({ file, args, cwd: "/", env: given }).catch(() => undefined);
    if (running === undefined) continue;
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const { from, bytes } of running.output) {
      length += bytes.length;
      if (from === "output" && length <= maxImageBytes) pieces.push(Buffer.from(bytes));
    }
    if ((await running.exited).code === 0 && length > 0 && length <= maxImageBytes) return Buffer.concat(pieces);
  }
  return undefined;
};

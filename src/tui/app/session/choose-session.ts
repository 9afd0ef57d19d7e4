import type { SessionChoice } from "../commands/slash-command.ts";
import type { FrontEnd } from "../front-ends/front-end.ts";
import { printInfo } from "../transcript/message.ts";
import type { SessionSource } from "./active-session.ts";

/** Lets the user choose a session of the folder. Returns undefined if they cancel, or if `quitting` resolves first. */
export const chooseSession = async (
  frontEnd: FrontEnd,
  { world, home, folder }: Pick<SessionSource, "world" | "home"> & { readonly folder: string },
  quitting: Promise<void>,
): Promise<SessionChoice | undefined> => {
  const { importReference, listSessionOptions } = await import("../commands/built-in/resume.ts");
  const { parseForeignReference } = await import("../../../foreign/agents.ts");
  const root = (await world.disk.canonicalPath(folder)) ?? folder;
  const options = await listSessionOptions(world, home.data, root);
  if (options.length === 0) {
    printInfo(frontEnd, "No session in this folder yet. This is a new one.");
    return "new";
  }
  const picked = await Promise.race([frontEnd.pick("Resume which session?", options), quitting]);
  if (picked === undefined) return undefined;
  const reference = parseForeignReference(picked.id);
  if (reference === undefined) return { id: picked.id };
  return { id: await importReference(world, home.data, root, reference, (text) => printInfo(frontEnd, text)) };
};

import { text } from "../conversation/builders.ts";
import type { UserPart } from "../conversation/parts.ts";
import type { Workspace } from "../policy/workspace.ts";
import type { World } from "../world/world.ts";
import { readContextFiles, type ContextOptions } from "./context-files.ts";
import type { ContextNote } from "./context-note.ts";
import { isInRepository } from "./context-places.ts";
import { contextText } from "./context-text.ts";
import { environmentText } from "./environment.ts";
import { defaultPrompt, type PromptSetting } from "./prompt.ts";
import { survey, type Survey } from "./survey.ts";
import { systemPrompt, type SystemPrompt } from "./system-prompt.ts";

/** All that decides what a session begins with. */
export type OpeningOptions = {
  readonly world: Pick<World, "clock" | "disk" | "env" | "files" | "host">;
  readonly files: Workspace;
  /** The agent's own folder. */
  readonly home: string;
  readonly isTrusted: (folder: string) => Promise<boolean>;
  readonly setting: Omit<PromptSetting, "hasGit">;
  /** A prompt given on the command line. */
  readonly prompt?: string;
  /** What settings say about context files. */
  readonly context?: Pick<ContextOptions, "names" | "person">;
  /** Whether the contents of all text files are told at the start. */
  readonly isFull?: boolean;
  readonly minutesAhead?: number;
  readonly signal: AbortSignal;
};

/** What a session begins with. It is made once: nothing in the head of a request changes within a session. */
export type Opening = {
  /** The system prompt with the context files. */
  readonly system: string;
  /** What goes before the person's first message. */
  readonly environment: readonly UserPart[];
  readonly prompt: Omit<SystemPrompt, "text">;
  readonly notes: readonly ContextNote[];
};

/** Makes the opening of a session: one look around the workspace, then everything that is told of it. */
export const openingOf = async (options: OpeningOptions): Promise<Opening> => {
  const { world, files, home, signal } = options;
  const [folder = home] = files.roots;
  const looking = surveysOf(options);
  const [surveys, context, { text: prompt, ...source }] = await Promise.all([
    looking,
    readContextFiles({ world, files, home, isTrusted: options.isTrusted, surveys: looking, ...options.context }),
    isInRepository(world.disk, folder).then((hasGit) =>
      systemPrompt({
        world,
        home,
        folder,
        prompt: defaultPrompt({ ...options.setting, hasGit }),
        ...(options.prompt === undefined ? {} : { given: options.prompt }),
      }),
    ),
  ]);
  const environment = environmentText({
    host: world.host,
    now: world.clock.now(),
    roots: files.roots,
    surveys,
    ...(options.minutesAhead === undefined ? {} : { minutesAhead: options.minutesAhead }),
  });
  const whole =
    options.isFull === true ? await (await import("./full-context.ts")).fullContext({ files, surveys, signal }) : [];
  return {
    system: [prompt, contextText(context.files)].filter((part) => part !== "").join("\n\n"),
    environment: [text(environment), ...whole],
    prompt: source,
    notes: context.notes,
  };
};

/** A folder that is not trusted is not looked at. */
const surveysOf = async ({ world, files, isTrusted, isFull }: OpeningOptions): Promise<readonly Survey[]> => {
  const trusted = await Promise.all(files.roots.map(isTrusted));
  const roots = files.roots.filter((_, index) => trusted[index]);
  return Promise.all(
    roots.map((folder) => survey({ disk: world.disk, files, folder, most: isFull === true ? 5000 : 200 })),
  );
};

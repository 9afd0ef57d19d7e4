import { text } from "../conversation/builders.ts";
import type { UserPart } from "../conversation/parts.ts";
import type { Workspace } from "../policy/workspace/open.ts";
import type { World } from "../world/world.ts";
import { readContextFiles, type ContextOptions } from "./context-files/read.ts";
import type { ContextNote } from "./context-files/note.ts";
import { isInRepository } from "./context-files/paths.ts";
import { formatContextFiles } from "./context-files/format.ts";
import { describeEnvironment } from "./workspace/environment.ts";
import { buildDefaultPrompt, type PromptConditions } from "./system-prompt/default.ts";
import { scanWorkspace, type WorkspaceScan } from "./workspace/scan.ts";
import { selectSystemPrompt, type SystemPrompt } from "./system-prompt/select.ts";

/** All that decides what a session begins with. */
export type InitialContextOptions = {
  readonly world: Pick<World, "clock" | "disk" | "env" | "files" | "host">;
  readonly files: Workspace;
  /** The agent's own folder. */
  readonly home: string;
  readonly isTrusted: (folder: string) => Promise<boolean>;
  readonly promptConditions: Omit<PromptConditions, "hasGit">;
  /** A prompt given on the command line. */
  readonly prompt?: string;
  /** What settings say about context files. */
  readonly context?: Pick<ContextOptions, "names" | "person">;
  /** Whether the contents of all text files are told at the start. */
  readonly isFullContext?: boolean;
  readonly minutesAhead?: number;
  readonly signal: AbortSignal;
};

/** What a session begins with. It is made once: nothing in the head of a request changes within a session. */
export type InitialContext = {
  /** The system prompt with the context files. */
  readonly system: string;
  /** What goes before the person's first message. */
  readonly environment: readonly UserPart[];
  readonly prompt: Omit<SystemPrompt, "text">;
  readonly notes: readonly ContextNote[];
};

/** Makes the opening of a session: one look around the workspace, then everything that is told of it. */
export const buildInitialContext = async (options: InitialContextOptions): Promise<InitialContext> => {
  const { world, files, home, signal } = options;
  const [folder = home] = files.roots;
  const looking = scanTrustedRoots(options);
  const [surveys, context, { text: prompt, ...source }] = await Promise.all([
    looking,
    readContextFiles({ world, files, home, isTrusted: options.isTrusted, scans: looking, ...options.context }),
    isInRepository(world.disk, folder).then((hasGit) =>
      selectSystemPrompt({
        world,
        home,
        folder,
        prompt: buildDefaultPrompt({ ...options.promptConditions, hasGit }),
        ...(options.prompt === undefined ? {} : { override: options.prompt }),
      }),
    ),
  ]);
  const environment = describeEnvironment({
    host: world.host,
    now: world.clock.now(),
    roots: files.roots,
    scans: surveys,
    ...(options.minutesAhead === undefined ? {} : { minutesAhead: options.minutesAhead }),
  });
  const whole =
    options.isFullContext === true
      ? await (await import("./workspace/full-context.ts")).readFullContext({ files, scans: surveys, signal })
      : [];
  return {
    system: [prompt, formatContextFiles(context.files)].filter((part) => part !== "").join("\n\n"),
    environment: [text(environment), ...whole],
    prompt: source,
    notes: context.notes,
  };
};

/** A folder that is not trusted is not looked at. */
const scanTrustedRoots = async ({
  world,
  files,
  isTrusted,
  isFullContext: isFull,
}: InitialContextOptions): Promise<readonly WorkspaceScan[]> => {
  const trusted = await Promise.all(files.roots.map(isTrusted));
  const roots = files.roots.filter((_, index) => trusted[index]);
  return Promise.all(
    roots.map((folder) => scanWorkspace({ disk: world.disk, files, folder, maxFolders: isFull === true ? 5000 : 200 })),
  );
};

import { toHomeFolders, type HomeOption } from "../world/home-folders.ts";
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

/** The inputs of a session's initial context. */
export type InitialContextOptions = {
  readonly world: Pick<World, "clock" | "disk" | "env" | "files" | "host">;
  readonly files: Workspace;
  /** Parley's own folders. */
  readonly home: HomeOption;
  readonly isTrusted: (folder: string) => Promise<boolean>;
  readonly promptConditions: Omit<PromptConditions, "hasGit">;
  /** A system prompt from the command line. */
  readonly prompt?: string;
  /** Settings for context files. */
  readonly context?: Pick<ContextOptions, "names" | "person">;
  /** Whether the contents of all text files are included. */
  readonly isFullContext?: boolean;
  readonly minutesAhead?: number;
  readonly signal: AbortSignal;
};

/** The context at the start of a session. It is built once: the request prefix must not change, or the prompt cache is lost. */
export type InitialContext = {
  /** The system prompt with the context files. */
  readonly system: string;
  /** Precedes the user's first message. */
  readonly environment: readonly UserPart[];
  readonly prompt: Omit<SystemPrompt, "text">;
  readonly notes: readonly ContextNote[];
  /** The context files in the system prompt, as shown to people. */
  readonly contextFiles: readonly string[];
};

/** Builds the initial context of a session from one scan of the workspace. */
export const buildInitialContext = async (options: InitialContextOptions): Promise<InitialContext> => {
  const { world, files, home, signal } = options;
  const { config } = toHomeFolders(home);
  const [folder = config] = files.roots;
  const scanning = scanTrustedRoots(options);
  const [scans, context, { text: prompt, ...source }] = await Promise.all([
    scanning,
    readContextFiles({ world, files, home, isTrusted: options.isTrusted, scans: scanning, ...options.context }),
    isInRepository(world.disk, folder).then((hasGit) =>
      selectSystemPrompt({
        world,
        home: config,
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
    scans,
    ...(options.minutesAhead === undefined ? {} : { minutesAhead: options.minutesAhead }),
  });
  const fullContext =
    options.isFullContext === true
      ? await (await import("./workspace/full-context.ts")).readFullContext({ files, scans, signal })
      : [];
  return {
    system: [prompt, formatContextFiles(context.files)].filter((part) => part !== "").join("\n\n"),
    environment: [text(environment), ...fullContext],
    prompt: source,
    notes: context.notes,
    contextFiles: context.files.map(({ label }) => label),
  };
};

/** Scans the trusted roots only. */
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

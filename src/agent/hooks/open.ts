import { createHookConsent } from "../../extensions/hooks/hook-consent.ts";
import type { Hook, HookSet } from "../../extensions/hooks/hook.ts";
import { HookEngine, type HookEngineOptions } from "../../extensions/hooks/hook-engine.ts";
import { readHooks } from "../../extensions/hooks/read-hooks.ts";
import type { ApprovalMode } from "../../policy/gate/approval-mode.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import { openConsentStore } from "../../policy/trust/consents.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { OpenServices } from "../../scheduler/services.ts";
import { settingsFilePath } from "../../settings/load/load.ts";
import type { AgentEvent } from "../events.ts";
import type { ResolvedAgentOptions } from "../options.ts";
import { SessionHooks } from "./session-hooks.ts";

/** The hooks of a session before it is open, and messages for the person about those that do not run. */
export type LoadedHooks = {
  readonly hooks: readonly Hook[];
  readonly notes: readonly string[];
};

/** Loads the person's own hooks, and those of plugins and of a trusted project that they consented to. */
export const loadHooks = async (
  options: Pick<ResolvedAgentOptions, "world" | "home" | "folder" | "loaded" | "hooks">,
  plugins: readonly HookSet[] = [],
): Promise<LoadedHooks> => {
  const { home, loaded, hooks: given } = options;
  const own: HookSet = {
    source: { type: "user" },
    file: settingsFilePath(home.config),
    settings: loaded.settings.hooks,
  };
  const program: readonly HookSet[] =
    given === undefined ? [] : [{ source: { type: "user" }, file: "openAgent", settings: given }];
  const project = await loadProjectHooks(options);
  const { hooks, problems } = readHooks([own, ...program, ...plugins, ...project.sets]);
  return { hooks, notes: [...problems, ...project.notes] };
};

const prefix = "hooks.";

/** The hooks of the project with consent, one set per event, since consent is given by event. */
const loadProjectHooks = async ({
  world: { disk },
  home,
  folder,
  loaded,
}: Pick<ResolvedAgentOptions, "world" | "home" | "folder" | "loaded">): Promise<{
  readonly sets: readonly HookSet[];
  readonly notes: readonly string[];
}> => {
  const isNoObject = loaded.project.consents.some(({ key }) => key === "hooks");
  const faults = isNoObject ? ["Hooks (project, .parley/settings.json): hooks must be an object with events."] : [];
  const requests = loaded.project.consents.filter(({ key }) => key.startsWith(prefix));
  if (requests.length === 0) return { sets: [], notes: faults };
  const missing = await openConsentStore(disk, home.config).findMissing(folder, requests);
  const agreed = requests.filter((each) => !missing.includes(each));
  return {
    sets: agreed.map(({ key, text, digest }) => ({
      source: { type: "project" },
      file: ".parley/settings.json",
      settings: { [key.slice(prefix.length)]: JSON.parse(text) as unknown },
      isUnchanged: async () => (await createHookConsent(disk, { root: folder, key, text })).digest === digest,
    })),
    notes: [
      ...faults,
      ...missing.map(
        ({ key }) =>
          `This project has hooks for ${sanitizeForTerminal(key.slice(prefix.length), "line").slice(0, 60)}. They do not run until you allow them: parley hooks allow`,
      ),
    ],
  };
};

/** The session that hooks belong to. Its parts are opened later than the hooks, so they are asked for when needed. */
export type HookSession = {
  readonly sessionId: string;
  readonly transcriptPath: string;
  readonly model: () => string;
  readonly mode: () => ApprovalMode;
  readonly services: () => Promise<OpenServices>;
  readonly emit: (event: AgentEvent) => void;
};

/** Creates the hooks of a session, and those of its subagents. */
export const createSessionHooks = (
  { world, folder, sandbox }: ResolvedAgentOptions,
  { hooks }: LoadedHooks,
  session: HookSession,
): { readonly main: SessionHooks; readonly forSubagent: (id: string, type: string) => SessionHooks } => {
  const { sessionId, services, emit } = session;
  // A command may hold a key, and events are logged.
  const { redact } = createRedactor({ env: world.env });
  const options: HookEngineOptions = {
    world,
    folder,
    sessionId,
    hooks,
    commonFields: () => ({
      session_id: sessionId,
      transcript_path: session.transcriptPath,
      cwd: folder,
      permission_mode: permissionModes[session.mode()],
      model: session.model(),
    }),
    findDenial: async (hook) => (await services()).gate.findDenial(touchesOf(hook, folder)),
    onActivity: ({ hook, message, ...activity }) =>
      emit({
        type: "hook",
        activity: {
          ...activity,
          hook: redact(hook),
          ...(message === undefined ? {} : { message: redact(message) }),
        },
      }),
    ...(sandbox === undefined
      ? {}
      : {
          confine: async (program, access) =>
            (await (await services()).confine?.(program, access)) ?? { program, finish: () => Promise.resolve("") },
        }),
  };
  const engine = new HookEngine(options);
  return {
    main: new SessionHooks({ engine }),
    forSubagent: (id, type) => new SessionHooks({ engine, agent: { id, type } }),
  };
};

const touchesOf = (
  { handler }: Hook,
  folder: string,
): { readonly command?: { readonly text: string; readonly folder: string }; readonly urls: readonly string[] } => {
  switch (handler.type) {
    case "command":
      return { command: { text: handler.command, folder }, urls: [] };
    case "program":
      return { command: { text: [handler.program, ...handler.args].map(quoteWord).join(" "), folder }, urls: [] };
    case "http":
      return { urls: [handler.url] };
  }
};

const quoteWord = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Approval modes in the words of Claude Code. */
const permissionModes: Readonly<Record<ApprovalMode, string>> = {
  plan: "plan",
  default: "default",
  auto_edit: "acceptEdits",
  yolo: "bypassPermissions",
};

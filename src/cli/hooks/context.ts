import { loadHooks } from "../../agent/hooks/open.ts";
import type { Hook } from "../../extensions/hooks/hook.ts";
import { readHooks } from "../../extensions/hooks/read-hooks.ts";
import { openSessionPlugins } from "../../extensions/plugins/session.ts";
import { openConsentStore, type ConsentStore } from "../../policy/trust/consents.ts";
import { openTrustStore, type ProjectScope } from "../../policy/trust/folders.ts";
import type { ConsentRequest } from "../../policy/trust/project-settings.ts";
import { findHomeFolders } from "../../world/home-folders.ts";
import { loadSettings, type LoadedSettings } from "../../settings/load/load.ts";
import { readMergedProjectSettings } from "../../settings/load/project.ts";
import type { World } from "../../world/world.ts";

/** The hooks of this folder, and the means to change them. */
export type HookContext = {
  readonly world: World;
  /** The folder of the settings. */
  readonly home: string;
  readonly root: string;
  readonly scope: ProjectScope;
  readonly loaded: LoadedSettings;
  readonly consents: ConsentStore;
  /** The hooks that run. */
  readonly hooks: readonly Hook[];
  /** Hooks of the project that do not run, and why. */
  readonly pending: readonly { readonly hook: Hook; readonly state: string }[];
  /** The consents that hooks of the project need. */
  readonly requests: readonly ConsentRequest[];
  readonly notes: readonly string[];
};

/** Loads the hooks of a folder. The project's are read even if it is not trusted, to show them; none is run. */
export const loadHookContext = async (world: World, folder: string): Promise<HookContext> => {
  const folders = await findHomeFolders(world);
  const home = folders.config;
  const root = (await world.disk.canonicalPath(folder)) ?? folder;
  const scope = await openTrustStore(world.disk, home).projectScope(root);
  const loaded = await loadSettings(world, { home, root, scope });
  const consents = openConsentStore(world.disk, home);
  const personalFolders = [home, `${world.host.home}/.gemini`];
  const project =
    scope === "inert" ? await readMergedProjectSettings(world.disk, { root, personalFolders }) : loaded.project;
  const requests = project.consents.filter(({ key }) => key.startsWith("hooks."));
  const missing = scope === "inert" ? requests : await consents.findMissing(root, requests);
  const unanswered = await consents.findUnanswered(root, missing);
  const plugins = await openSessionPlugins(world, { home: folders.data, folder: root });
  const { hooks, notes } = await loadHooks({ world, home: folders, folder: root, loaded }, plugins.hooks);
  const pending = missing.flatMap((request) => {
    const state = scope === "inert" ? "not trusted" : unanswered.includes(request) ? "needs consent" : "denied";
    return readRequest(request).map((hook) => ({ hook, state }));
  });
  return { world, home, root, scope, loaded, consents, hooks, pending, requests, notes: [...plugins.notes, ...notes] };
};

const readRequest = ({ key, text }: ConsentRequest): readonly Hook[] => {
  const settings = { [key.slice("hooks.".length)]: JSON.parse(text) as unknown };
  return readHooks([{ source: { type: "project" }, file: ".parley/settings.json", settings }]).hooks;
};

import { isObject } from "../../conversation/json.ts";
import { readProjectFile } from "../../policy/trust/project-settings.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { Disk } from "../../world/disk.ts";

/** Lists the plugins that a trusted project asks for in Claude's settings (`enabledPlugins`). They are only named, never added. */
export const readSuggestedPlugins = async (disk: Disk, root: string): Promise<readonly string[]> => {
  const files = await Promise.all(
    ["settings.json", "settings.local.json"].map((name) => readProjectFile(disk, root, [".claude", name])),
  );
  const names = files.flatMap((file) => {
    if (file === undefined || !("text" in file)) return [];
    try {
      const settings: unknown = JSON.parse(file.text);
      const enabled = isObject(settings) ? settings["enabledPlugins"] : undefined;
      return isObject(enabled) ? Object.keys(enabled).filter((name) => enabled[name] !== false) : [];
    } catch {
      return [];
    }
  });
  return [...new Set(names)].slice(0, 50).map((name) => sanitizeForTerminal(name.slice(0, 130), "line"));
};

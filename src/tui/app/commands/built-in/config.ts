import { line, span, toLines, truncate } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/config`: shows the settings that differ from the defaults, or one, or changes one of the user's file. */
export const showConfig = async (words: string, at: SlashCommandContext): Promise<void> => {
  const [path = "", value = ""] = words.trim().split(/\s+(.*)/s);
  if (path === "") return listSettings(at);
  const args = value === "" ? ["get", path] : ["set", path, value];
  const text = (await at.parley(["config", ...args])).trimEnd();
  if (text !== "") at.print([...toLines(text).flatMap((each) => wrap(each, { width: at.width() })), []]);
  else if (value !== "") at.info(`Set ${path}. Used from the next session (/new).`);
};

/** The output of `parley config list --json`. */
type SettingsList = {
  readonly file: string;
  readonly settings: {
    readonly [path: string]: {
      readonly value: unknown;
      readonly sources: readonly { readonly from: string; readonly where?: string }[];
    };
  };
};

const listSettings = async (at: SlashCommandContext): Promise<void> => {
  const { file, settings } = JSON.parse(await at.parley(["config", "list", "--json"])) as SettingsList;
  const changed = Object.entries(settings).filter(([, { sources }]) => sources.some(({ from }) => from !== "default"));
  const names = Math.max(0, ...changed.map(([path]) => path.length));
  const hint = `Change a setting with /config NAME VALUE (${file}). All settings: parley config list`;
  at.print([
    ...(changed.length === 0 ? [line("All settings have their defaults.")] : []),
    ...changed.map(([path, { value, sources }]) =>
      truncate(
        [
          span(path.padEnd(names + 2), { tone: "accent" }),
          span(JSON.stringify(value)),
          span(`  ${sources.map(({ from, where = from }) => where).join(", ")}`, { tone: "muted" }),
        ],
        at.width(),
      ),
    ),
    ...wrap([span(hint, { tone: "muted" })], { width: at.width() }),
    [],
  ]);
};

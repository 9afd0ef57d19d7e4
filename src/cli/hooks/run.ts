import { hookEvents } from "../../settings/schema/hook-shape.ts";
import { describeHookSource, type Hook } from "../../extensions/hooks/hook.ts";
import { displayCommand } from "../../policy/terminal/sanitize.ts";
import { createRedactor } from "../../policy/secrets/redact.ts";
import type { ConsentRequest } from "../../policy/trust/project-settings.ts";
import { realWorld } from "../../world/real/world.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { canPrompt, confirm } from "../confirm.ts";
import { printJson } from "../format.ts";
import { alignColumns, sanitizeLine } from "../text-table.ts";
import { UserError, usageError } from "../user-error.ts";
import { loadHookContext, type HookContext } from "./context.ts";

/** `parley hooks`: lists, allows, tests and imports hooks. */
export const hooks: CommandHandler = async (args) => {
  const [action = "list", name] = args.positionals;
  const context = await loadHookContext(realWorld(), process.cwd());
  switch (action) {
    case "list":
      return listHooks(context, args.has("json"));
    case "allow":
      return allowHooks(context, name, args.has("yes"));
    case "deny":
      return denyHooks(context, name);
    case "test":
      return (await import("./test-event.ts")).testEvent(context, requireName(args, "EVENT"), args);
    case "import":
      return (await import("./import.ts")).importAgentHooks(context, requireName(args, "AGENT"), args.has("yes"));
    case "undo":
      return (await import("./import.ts")).undoImport(context);
    default:
      throw usageError(`Unknown action "${action}" for hooks. Available: list, allow, deny, test, import, undo.`);
  }
};

const requireName = ({ positionals: [action = "", name] }: Arguments, what: string): string => {
  if (name === undefined) throw usageError(`hooks ${action} needs ${what}.`);
  return name;
};

const listHooks = (context: HookContext, isJson: boolean): number => {
  const rows = [
    ...context.hooks.map((hook) => ({ ...describeHook(hook), state: "runs" })),
    ...context.pending.map(({ hook, state }) => ({ ...describeHook(hook), state })),
  ];
  const { redact } = createRedactor({ env: context.world.env });
  if (isJson)
    return printJson({ hooks: rows.map((row) => ({ ...row, hook: redact(row.hook) })), notes: context.notes });
  const lines = rows.map(({ event, matcher, source, state, hook }) =>
    [event, shorten(matcher === "" ? "*" : matcher), source, state, redact(hook)].map(sanitizeLine),
  );
  for (const line of alignColumns(lines)) process.stdout.write(`${line}\n`);
  if (rows.length === 0) process.stderr.write("parley: No hooks configured. See docs/hooks.md.\n");
  for (const note of context.notes) process.stderr.write(`parley: ${sanitizeLine(note)}\n`);
  return 0;
};

const shorten = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

const describeHook = ({
  event,
  matcher,
  set: { source, file },
  label,
}: Hook): {
  readonly event: string;
  readonly matcher: string;
  readonly source: string;
  readonly file: string;
  readonly hook: string;
} => ({
  event,
  matcher,
  source: describeHookSource(source),
  file,
  hook: label,
});

const allowHooks = async (context: HookContext, event: string | undefined, skipsQuestion: boolean): Promise<number> => {
  if (context.scope === "inert")
    throw new UserError("This folder is not trusted, so its hooks do not run. parley trust changes that.", { code: 1 });
  const requests = selectRequests(context, event);
  const missing = await context.consents.findMissing(context.root, requests);
  if (missing.length === 0) {
    process.stderr.write("These hooks are already allowed.\n");
    return 0;
  }
  for (const request of missing) process.stderr.write(`${formatRequest(request)}\n`);
  if (!skipsQuestion && !canPrompt())
    throw new UserError("Cannot ask without a terminal. Use --yes to allow what is shown above.", { code: 1 });
  if (!skipsQuestion && !(await confirm("Allow these hooks in this folder?")))
    throw new UserError("Not allowed.", { code: 1 });
  for (const request of missing) await context.consents.agree(context.root, request);
  process.stderr.write("Allowed. You are asked again when they, or files they name, change.\n");
  return 0;
};

const denyHooks = async (context: HookContext, event: string | undefined): Promise<number> => {
  const requests = selectRequests(context, event);
  for (const request of requests) {
    await context.consents.withdraw(context.root, request.key);
    await context.consents.decline(context.root, request);
  }
  process.stderr.write("Denied. You are not asked again until they change.\n");
  return 0;
};

const selectRequests = ({ requests }: HookContext, event: string | undefined): readonly ConsentRequest[] => {
  if (requests.length === 0) throw new UserError("This project has no hooks in .parley/settings.json.", { code: 1 });
  if (event === undefined) return requests;
  const found = requests.filter(({ key }) => key === `hooks.${event}`);
  if (found.length > 0) return found;
  const available = requests.map(({ key }) => sanitizeLine(key.slice("hooks.".length))).join(", ");
  throw new UserError(`This project has no hooks for ${sanitizeLine(event)}. Available: ${available}.`, { code: 1 });
};

const formatRequest = ({ key, text, secrets = [] }: ConsentRequest): string =>
  [
    `${sanitizeLine(key.slice("hooks.".length))}, .parley/settings.json:`,
    `  ${displayCommand(text)}`,
    ...secrets.map((name) => `  It names your secret ${name}, which commands of hooks do not get.`),
  ].join("\n");

/** Whether a text names an event; otherwise a usage error lists them. */
export const requireEvent = (event: string): (typeof hookEvents)[number] => {
  const found = hookEvents.find((each) => each === event);
  if (found === undefined) throw usageError(`Unknown event "${event}". Available: ${hookEvents.join(", ")}.`);
  return found;
};

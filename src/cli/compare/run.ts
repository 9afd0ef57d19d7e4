import { compareModels, type ComparedTurn } from "../../agent/compare/compare-models.ts";
import { describeTurnCost } from "../../agent/compare/describe-turn.ts";
import { loadAgentEnvironment, type AgentEnvironment } from "../../agent/environment.ts";
import { loadModel, modelName, type ModelRef } from "../../agent/models/name.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import { SessionError } from "../../session/error.ts";
import { openSessionStore } from "../../session/store/store.ts";
import { rethrowAsUserError } from "../chat/open-session.ts";
import type { Arguments, CommandHandler } from "../command.ts";
import { watchCancellation } from "../headless/cancellation.ts";
import { usageError } from "../user-error.ts";

/** `parley compare`: prints the answers of several models to the same prompt. */
export const compare: CommandHandler = async (args) => {
  const [prompt = ""] = args.positionals;
  if (args.has("continue") && args.has("resume")) throw usageError("Use -c or -r, not both.");
  const environment = await loadAgentEnvironment({ folder: args.value("cwd") ?? "." }).catch(rethrowAsUserError);
  const models = await loadModels(args, environment);
  const cancellation = watchCancellation();
  cancellation.onCancel(() => undefined);
  const session = await findSession(args, environment).catch(rethrowAsUserError);
  const given = { environment, prompt, models, ...(session === undefined ? {} : { session }) };
  const turns = await compareModels(given, cancellation.signal).catch(rethrowAsUserError);
  process.stdout.write(args.has("json") ? formatJson(turns) : turns.map(formatTurn).join("\n"));
  if (cancellation.stop() !== undefined) return 130;
  return turns.some(({ problem }) => problem !== undefined) ? 1 : 0;
};

const loadModels = async (args: Arguments, environment: AgentEnvironment): Promise<readonly ModelRef[]> => {
  const models = await Promise.all(args.values("model").map((name) => loadModel(name, environment.world.env))).catch(
    rethrowAsUserError,
  );
  const names = new Set(models.map(modelName));
  if (names.size < 2 || names.size > 3 || names.size < models.length)
    throw usageError("Name two or three different models: parley compare -m MODEL -m MODEL TEXT.");
  return models;
};

const findSession = async (args: Arguments, { world, home, folder }: AgentEnvironment): Promise<string | undefined> => {
  if (!args.has("continue")) return args.value("resume");
  const root = (await world.disk.canonicalPath(folder)) ?? folder;
  const [last] = await openSessionStore(world, { home: home.data }).list({ root, limit: 1 });
  if (last === undefined) throw new SessionError({ kind: "not-found", id: "last" });
  return last.id;
};

const formatTurn = (turn: ComparedTurn): string => {
  const { model, session, text, problem, calls } = turn;
  const lines = [
    `== ${modelName(model)} ==`,
    describeTurnCost(turn),
    ...(session === undefined ? [] : [`Session ${session}: parley -r ${session}`]),
    ...calls.map(({ tool, title, status }) => `${status}: ${tool} ${title}`.trimEnd()),
    "",
    ...(text === "" ? [] : [text.trimEnd()]),
    ...(problem === undefined ? [] : [problem]),
  ];
  return `${sanitizeForTerminal(lines.join("\n"))}\n`;
};

const formatJson = (turns: readonly ComparedTurn[]): string =>
  `${JSON.stringify(
    {
      answers: turns.map(({ model, session, text, problem, calls, elapsedMs, usage }) => ({
        model: modelName(model),
        session_id: session ?? null,
        response: text,
        ...(problem === undefined ? {} : { error: problem }),
        tool_calls: calls,
        duration_ms: Math.round(elapsedMs),
        input_tokens: usage.input,
        output_tokens: usage.output,
        cost_usd: usage.unpriced > 0 ? null : usage.cost,
      })),
    },
    undefined,
    2,
  )}\n`;

import type { RawCallInput } from "../conversation/call-input.ts";
import type { Blobs, Conversation, Entry, ProviderFields, ToolDeclaration } from "../conversation/entry.ts";
import { isObject, type JsonObject, type JsonValue } from "../conversation/json.ts";
import { note, type Note } from "../conversation/notes.ts";
import type { PlacedNote } from "../transcript/decision-log.ts";
import { IncrementalRenderer, type RenderReport } from "../transcript/incremental-renderer.ts";
import { defaultRenderPolicy, type RenderPolicy } from "../transcript/target.ts";
import type { BoundRequest, Destination } from "./bind.ts";
import { isForTarget, lossNotes } from "./provider-fields.ts";
import { restoreArgumentNames, type ArgumentNames } from "./schema/argument-names.ts";
import type { RequestSettings } from "./wire.ts";

/** A request body ready to send, and the report of every decision. */
export type ComposedRequest = { readonly body: JsonObject; readonly report: RenderReport };

/** Options of a request composer. */
export type RequestComposerOptions = {
  readonly destination: Destination;
  readonly system?: string | undefined;
  readonly tools?: readonly ToolDeclaration[] | undefined;
  readonly blobs: Blobs;
  readonly policy?: Partial<RenderPolicy>;
  readonly unverified?: "keep" | "drop";
  /** Called with the messages of every encoded step, and the indexes of the entries it is made of. */
  readonly onStep?: (messages: readonly JsonObject[], entries: readonly number[]) => void;
};

/**
 * Composes the requests of a growing conversation to one destination. Messages are encoded once and never change after
 * they were sent, so the provider's prompt cache is used.
 */
export class RequestComposer {
  readonly #options: RequestComposerOptions;
  readonly #rendering: IncrementalRenderer<JsonObject>;
  readonly #declared: readonly ToolDeclaration[];
  readonly #doubled: readonly string[];
  readonly #lost: readonly Note[];
  /** Renamed arguments by the tool's own name. */
  readonly #argumentNames = new Map<string, ArgumentNames>();

  constructor(options: RequestComposerOptions) {
    const { destination, system, tools = [], blobs, policy, unverified, onStep } = options;
    const { wire, target } = destination;
    this.#options = options;
    this.#rendering = new IncrementalRenderer<JsonObject>({
      target,
      policy: { ...defaultRenderPolicy, ...policy },
      blobs,
      encode: (step, entries) => {
        const messages = wire.encodeStep(step, policy?.toolResponse);
        onStep?.(messages, entries);
        return messages;
      },
      merge: wire.mergeMessages,
      head: wire.encodeHead(this.#request({}, [])),
      preamble: () => JSON.stringify([system ?? "", tools]),
      tools: tools.map((tool) => tool.name),
      argumentNames: (tool) => this.#argumentNames.get(tool),
      ...(unverified === undefined ? {} : { unverified }),
    });
    const first = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
    for (const { name, parameters } of first.values()) {
      const names = wire.argumentNames(parameters);
      if (names !== undefined) this.#argumentNames.set(name, names);
    }
    this.#doubled = tools.filter((tool) => first.get(tool.name) !== tool).map((tool) => tool.name);
    const unique = tools.filter((tool) => first.get(tool.name) === tool);
    this.#lost = unique.flatMap(({ extra }) =>
      extra === undefined || isForTarget(extra, target) ? [] : lossNotes(extra),
    );
    this.#declared = unique.map(({ extra, ...tool }) => ({
      ...tool,
      name: this.#rendering.names.toolName(tool.name),
      ...(extra === undefined || !isForTarget(extra, target) ? {} : { extra }),
    }));
  }

  /** Adds the entries since the last request. */
  add(entries: Iterable<Entry>): void {
    this.#rendering.add(entries);
  }

  /** Returns the body to send now. Its messages are valid until the next `add`. */
  body(settings: RequestSettings = {}): JsonObject {
    return this.#encode(settings).body;
  }

  /** Returns the body to send now, with its report. */
  compose(settings: RequestSettings = {}): ComposedRequest {
    const { body, notes } = this.#encode(settings);
    const report = this.#rendering.report();
    return { body, report: { ...report, notes: [...report.notes, ...notes] } };
  }

  /** Returns the notes of `compose`, each with the index of the entry it is about; those on the whole request have none. */
  placedNotes(settings: RequestSettings = {}): readonly PlacedNote[] {
    const { notes } = this.#encode(settings);
    return [...this.#rendering.placedNotes(), ...notes.map((made) => ({ note: made }))];
  }

  /** Returns the hash of what would be sent now; the response records it as its `prefix`. */
  digest(): string {
    return this.#rendering.digest();
  }

  /** Returns our name for a tool the model called by its alias. */
  originalTool(alias: string): string {
    return this.#rendering.names.originalTool(alias);
  }

  /** Restores the arguments of a call to the tool's own argument names; `tool` is our name for it. */
  originalInput(tool: string, input: RawCallInput): RawCallInput {
    const names = this.#argumentNames.get(tool);
    return names === undefined ? input : restoreArgumentNames(input, names);
  }

  /** Whether the arguments of a tool have other names at the target. */
  renamesArguments(tool: string): boolean {
    return this.#argumentNames.has(tool);
  }

  #encode(settings: RequestSettings): { body: JsonObject; notes: readonly Note[] } {
    const messages = this.#rendering.messages();
    const notes: Note[] = [];
    const tools = this.#tools(serverToolNames(settings.extra), notes);
    const adapted = this.#settings(settings, notes);
    const effective =
      tools === this.#declared || tools.length === 0 ? adapted : { ...adapted, toolChoice: "none" as const };
    const { wire } = this.#options.destination;
    const request = this.#request(effective, tools);
    this.#rendering.overlay([]);
    this.#rendering.overlay(wire.markCachePoints(messages, request));
    const encoded = wire.encodeRequest(messages, request);
    return { body: encoded.body, notes: [...notes, ...encoded.notes] };
  }

  /** Returns the declared tools. If none are declared and the API requires declarations for the calls in the history, those tools are declared. */
  #tools(carried: readonly JsonValue[], notes: Note[]): readonly ToolDeclaration[] {
    notes.push(...this.#lost);
    for (const name of this.#doubled)
      notes.push(note("schema-adapted", `The tool ${name} is declared twice; the first declaration is used.`));
    if (this.#options.destination.target.callsAsText === true) {
      if (this.#declared.length > 0)
        notes.push(note("setting-adapted", "This model supports no tools; none are declared."));
      return [];
    }
    const used = [...this.#rendering.toolsShown].filter((name) => !carried.includes(name));
    if (this.#declared.length > 0 || used.length === 0 || !this.#options.destination.requiresTools)
      return this.#declared;
    notes.push(
      note("tools-declared", `This API requires declarations of the tools in the history: ${used.join(", ")}.`),
    );
    return used.map((name) => ({
      name,
      description: "Used earlier in this conversation; no longer available.",
      parameters: { type: "object", properties: {} },
    }));
  }

  #settings(settings: RequestSettings, notes: Note[]): RequestSettings {
    const { toolChoice, thinking, temperature, maxTokens, extra, ...rest } = settings;
    const isOwnModel = extra !== undefined && isForTarget(extra, this.#options.destination.target);
    if (extra !== undefined && !isOwnModel) notes.push(...lossNotes(extra));
    const named = typeof toolChoice === "object" ? this.#namedTool(toolChoice.tool, notes) : toolChoice;
    const thinks = thinking !== undefined && thinking.effort !== "none";
    const isThinkingBlocked =
      thinks && this.#options.destination.requiresThinkingInLoop && this.#rendering.lastCallsLackThinking;
    if (isThinkingBlocked)
      notes.push(
        note(
          "setting-adapted",
          "The last calls came without thinking this model could read; it is off for this request.",
        ),
      );
    const clampedTemperature = clampSetting(temperature, [0, 2], "temperature", notes);
    const limit = clampSetting(maxTokens, [1, settings.contextLeft ?? Number.MAX_SAFE_INTEGER], "token limit", notes);
    return {
      ...rest,
      ...(clampedTemperature === undefined ? {} : { temperature: clampedTemperature }),
      ...(limit === undefined ? {} : { maxTokens: Math.floor(limit) }),
      ...(named === undefined ? {} : { toolChoice: named }),
      ...(thinking === undefined || isThinkingBlocked ? {} : { thinking }),
      ...(isOwnModel ? { extra } : {}),
    };
  }

  #namedTool(tool: string, notes: Note[]): RequestSettings["toolChoice"] {
    const name = this.#rendering.names.toolName(tool);
    if (this.#declared.some((declared) => declared.name === name)) return { tool: name };
    notes.push(note("setting-adapted", `The tool ${tool} is not declared, so it cannot be required.`));
    return "auto";
  }

  #request(settings: RequestSettings, tools: readonly ToolDeclaration[]): BoundRequest {
    const { destination, system } = this.#options;
    return { model: destination.target.model, ...(system === undefined ? {} : { system }), tools, settings };
  }
}

/** Returns the names of server tools, which the API runs itself. */
const serverToolNames = (extra: ProviderFields | undefined): readonly JsonValue[] =>
  (extra?.fields ?? []).flatMap(({ at, value }) =>
    at.endsWith("tools/-") && isObject(value) ? [value["name"] as JsonValue] : [],
  );

/** Clamps a setting to the range that APIs accept. */
const clampSetting = (
  requested: number | undefined,
  [least, most]: readonly [number, number],
  what: string,
  notes: Note[],
): number | undefined => {
  if (requested === undefined) return undefined;
  const taken = Math.min(most, Math.max(least, requested));
  if (taken !== requested)
    notes.push(note("setting-adapted", `The ${what} ${requested} is out of range; ${taken} is sent.`));
  return taken;
};

/** Options for a single request. */
export type ComposeOptions = {
  readonly settings?: RequestSettings;
  readonly policy?: Partial<RenderPolicy>;
  readonly unverified?: "keep" | "drop";
};

/** Composes one request from a whole conversation. */
export const composeRequest = (
  conversation: Conversation,
  destination: Destination,
  { settings, policy, unverified }: ComposeOptions = {},
): ComposedRequest => {
  const composer = new RequestComposer({
    destination,
    system: conversation.system,
    tools: conversation.tools,
    blobs: conversation.blobs,
    ...(policy === undefined ? {} : { policy }),
    ...(unverified === undefined ? {} : { unverified }),
  });
  composer.add(conversation.entries);
  return composer.compose(settings);
};

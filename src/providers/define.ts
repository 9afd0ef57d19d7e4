import type { MediaRows, OrderRule, Target, ThinkingRule } from "../transcript/target.ts";
import { bindDialect, type Destination } from "../wire/bind.ts";
import type { Wire, WireId } from "../wire/wire.ts";
import { describedMediaRows, type ModelInput } from "./model-input.ts";
import { quirks, type Quirk } from "./quirks.ts";

/** A company or program that serves models over one of the API families. */
export type Provider = {
  readonly id: string;
  /** Its `gen_ai.provider.name` in OpenTelemetry's conventions, if that is not its id. */
  readonly telemetryName?: string;
  readonly label: string;
  readonly wire: WireId;
  readonly endpoint: Endpoint;
  readonly auth: Auth;
  readonly defaultModel: string;
  /**
   * Resolves a model to its destination: target and wire. Unknown models get the provider's safe defaults; `learned`
   * quirks correct them, and `input` says which kinds of files the model takes.
   */
  readonly destination: (
    model: string,
    account?: string,
    learned?: readonly Quirk[],
    input?: ModelInput,
  ) => Destination;
};

/** A provider that is loaded on demand: start-up loads the wire of one provider instead of all. */
export type LazyProvider = {
  readonly id: string;
  readonly telemetryName?: string;
  /** Environment variables with a key of it. */
  readonly keys: readonly string[];
  readonly load: () => Promise<Provider>;
};

/** The base URL of a provider, and the path of each operation. */
export type Endpoint = {
  /** `{region}`, `{resource}` and `{vertex-host}` are filled in from the environment. */
  readonly url: string;
  readonly paths: Paths;
  /** How a model is named in a path. Default: the encoded name. */
  readonly modelNames?: ModelNames;
  /** The vendor's own environment variables for another base URL; the first one set counts. */
  readonly env?: readonly BaseVariable[];
  /** Headers of every request, each with the environment variable that overrides its value. */
  readonly headers?: readonly { readonly name: string; readonly value: string; readonly env: string }[];
};

/**
 * Paths after the base URL, with `{model}` filled in. An absent operation is not offered, except that streams use
 * `generate` unless `stream` is set. A path that begins with `https://` has its own base, which is used unless the base
 * URL is overridden.
 */
export type Paths = {
  readonly generate: string;
  readonly stream?: string;
  readonly count?: string;
  readonly models?: string;
};

/**
 * `prefix` is put before a bare name, with `{place}` filled in; a name that matches `resourcePath` is a full path
 * already.
 */
type ModelNames = { readonly prefix: string; readonly resourcePath: RegExp };

/**
 * An environment variable with a base URL. `suffix` is appended if missing; `bare` completes a host name without scheme
 * or port.
 */
export type BaseVariable = { readonly name: string; readonly suffix?: string; readonly bare?: string };

/** How requests are authenticated. */
export type Auth =
  | {
      readonly type: "bearer" | "x-api-key" | "x-goog-api-key" | "api-key";
      /** Environment variables with a key; the first one set counts. */
      readonly env: readonly string[];
      /** Environment variables with a token instead, sent as a bearer token. */
      readonly tokens?: readonly string[];
      /** Requests also work without a key. */
      readonly optional?: true;
    }
  | { readonly type: "aws" }
  | { readonly type: "google" }
  | { readonly type: "code-assist" }
  | { readonly type: "none" };

/** Everything rendering needs to know about a model, apart from its name. */
export type Traits = Omit<Target, "provider" | "model" | "account"> &
  Pick<Destination, "requiresTools" | "requiresThinkingInLoop">;

/** Models of a provider that differ from the rest. Later families override earlier ones. */
export type ModelFamily<Dialect> = {
  readonly match: RegExp;
  readonly traits?: Partial<Omit<Traits, "media" | "thinking" | "order">> & {
    readonly media?: Partial<MediaRows>;
    readonly thinking?: Partial<ThinkingRule>;
    readonly order?: Partial<OrderRule>;
  };
  readonly dialect?: Partial<Dialect>;
};

/** A provider as data. */
export type ProviderData<Dialect> = Omit<Provider, "wire" | "destination"> & {
  readonly wire: Wire<Dialect>;
  readonly traits: Traits;
  readonly dialect: Dialect;
  readonly families?: readonly ModelFamily<Dialect>[];
};

/** Creates a provider from its data. */
export const defineProvider = <Dialect>(data: ProviderData<Dialect>): Provider => {
  const { wire, traits, dialect, families = [], ...rest } = data;
  return {
    ...rest,
    wire: wire.id,
    destination: (model, account, learned = [], input) => {
      const fitting = [
        ...families.filter(({ match }) => match.test(model)),
        ...learned.flatMap((quirk) => quirkFamilies<Dialect>(quirk, wire.id)),
      ];
      const {
        requiresTools: demandsTools,
        requiresThinkingInLoop: demandsThoughtInLoop,
        media,
        mediaUnknown,
        ...shown
      } = fitting.reduce(applyFamily<Dialect>, traits);
      const described = input === undefined ? undefined : describedMediaRows(media, input, wire.id);
      return {
        target: {
          provider: data.id,
          model,
          ...(account === undefined ? {} : { account }),
          ...shown,
          media: described ?? media,
          ...(mediaUnknown === true && described === undefined ? { mediaUnknown } : {}),
        },
        wire: bindDialect(wire, Object.assign({}, dialect, ...fitting.map((family) => family.dialect))),
        requiresTools: demandsTools,
        requiresThinkingInLoop: demandsThoughtInLoop,
      };
    },
  };
};

/** Converts a quirk to a model family, with the dialect fields this wire knows. */
const quirkFamilies = <Dialect>(quirk: Quirk, wire: WireId): readonly ModelFamily<Dialect>[] => {
  const { only, traits, dialect } = quirks[quirk];
  if (only !== undefined && !only.includes(wire)) return [];
  return [{ match: /./, ...(traits === undefined ? {} : { traits }), dialect: { ...dialect } as Partial<Dialect> }];
};

const applyFamily = <Dialect>(traits: Traits, { traits: own }: ModelFamily<Dialect>): Traits => ({
  ...traits,
  ...own,
  media: { ...traits.media, ...own?.media },
  thinking: { ...traits.thinking, ...own?.thinking },
  order: { ...traits.order, ...own?.order },
});

import type { MediaRows, OrderRule, Target, ThinkingRule } from "../transcript/target.ts";
import { bindDialect, type Destination } from "../wire/bind.ts";
import type { Wire, WireId } from "../wire/wire.ts";
import { describedMediaRows, type ModelInput } from "./model-input.ts";
import { quirks, type Quirk } from "./quirks.ts";

/** Someone who serves models over one of the API families. */
export type Provider = {
  readonly id: string;
  readonly label: string;
  readonly wire: WireId;
  readonly endpoint: Endpoint;
  readonly auth: Auth;
  readonly defaultModel: string;
  /**
   * Where a request for one of its models goes. Unknown models get the provider's safe defaults; `learned` corrects them,
   * and `input` says which kinds of files the model takes.
   */
  readonly destination: (
    model: string,
    account?: string,
    learned?: readonly Quirk[],
    input?: ModelInput,
  ) => Destination;
};

/** Where requests go: a base, and after it a path for each thing that can be asked. */
export type Endpoint = {
  /** `{region}`, `{resource}` and `{vertex-host}` are filled in from the environment. */
  readonly url: string;
  readonly paths: Paths;
  /** How a model is named in a path. Without it the name is one encoded word. */
  readonly modelNames?: ModelNames;
  /** The ecosystem's own variables that move the base; the first one set counts. */
  readonly env?: readonly BaseVariable[];
  /** Headers every request carries, each with the variable that chooses another value. */
  readonly headers?: readonly { readonly name: string; readonly value: string; readonly env: string }[];
};

/**
 * Paths after the base, with `{model}` filled in. What is absent is not
 * offered, except that streams come from `generate` unless they have a path of
 * their own. A path that begins with `https://` brings its own base, which
 * counts until the endpoint is moved.
 */
export type Paths = {
  readonly generate: string;
  readonly stream?: string;
  readonly count?: string;
  readonly models?: string;
};

/** `prefix` stands before a bare name, with `{place}` filled in; a name that matches `whole` is a resource path already. */
type ModelNames = { readonly prefix: string; readonly resourcePath: RegExp };

/** A variable that holds a base: `suffix` is what its users leave out, `bare` fills in what a mere host name lacks. */
export type BaseVariable = { readonly name: string; readonly suffix?: string; readonly bare?: string };

/** How a request proves who sends it. */
export type Auth =
  | {
      readonly type: "bearer" | "x-api-key" | "x-goog-api-key" | "api-key";
      /** Variables that hold a key; the first one set counts. */
      readonly env: readonly string[];
      /** Variables that hold a token instead, which goes out as a bearer. */
      readonly tokens?: readonly string[];
      /** Whether it also works without. */
      readonly optional?: true;
    }
  | { readonly type: "aws" }
  | { readonly type: "google" }
  | { readonly type: "code-assist" }
  | { readonly type: "none" };

/** What the passes need to know of a model, apart from its name. */
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

/** Turns a provider's data into a provider. */
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

/** A quirk as a family of its own, with the dialect fields this wire knows. */
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

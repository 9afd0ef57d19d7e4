import type { MediaRows, OrderRule, Target, ThinkingRule } from "../transcript/index.ts";
import { bind, type Destination } from "../wire/bind.ts";
import type { Wire, WireId } from "../wire/wire.ts";

/** Someone who serves models over one of the API families. */
export type Provider = {
  readonly id: string;
  readonly label: string;
  readonly wire: WireId;
  readonly endpoint: Endpoint;
  readonly auth: Auth;
  readonly defaultModel: string;
  /** Where a request for one of its models goes. Unknown models get the provider's safe defaults. */
  readonly destination: (model: string, account?: string) => Destination;
};

/** Where requests go. `{model}`, `{project}` and `{region}` are filled in; `env` names the variable that moves it. */
export type Endpoint = { readonly url: string; readonly path: string; readonly env?: string };

/** How a request proves who sends it. */
export type Auth =
  | { readonly type: "bearer" | "x-api-key" | "x-goog-api-key" | "api-key"; readonly env: readonly string[] }
  | { readonly type: "aws" }
  | { readonly type: "google" }
  | { readonly type: "none" };

/** What the passes need to know of a model, apart from its name. */
export type Traits = Omit<Target, "provider" | "model" | "account"> &
  Pick<Destination, "demandsTools" | "demandsThoughtInLoop">;

/** Models of a provider that differ from the rest. Later families override earlier ones. */
export type Family<Dialect> = {
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
  readonly families?: readonly Family<Dialect>[];
};

/** Turns a provider's data into a provider. */
export const defineProvider = <Dialect>(data: ProviderData<Dialect>): Provider => {
  const { wire, traits, dialect, families = [], ...rest } = data;
  return {
    ...rest,
    wire: wire.id,
    destination: (model, account) => {
      const fitting = families.filter(({ match }) => match.test(model));
      const { demandsTools, demandsThoughtInLoop, ...shown } = fitting.reduce(withFamily<Dialect>, traits);
      return {
        target: { provider: data.id, model, ...(account === undefined ? {} : { account }), ...shown },
        wire: bind(wire, Object.assign({}, dialect, ...fitting.map((family) => family.dialect))),
        demandsTools,
        demandsThoughtInLoop,
      };
    },
  };
};

const withFamily = <Dialect>(traits: Traits, { traits: own }: Family<Dialect>): Traits => ({
  ...traits,
  ...own,
  media: { ...traits.media, ...own?.media },
  thinking: { ...traits.thinking, ...own?.thinking },
  order: { ...traits.order, ...own?.order },
});

import type { VNode } from "preact";

/** A number with its name. */
export const Fact = ({ name, value }: { readonly name: string; readonly value: string }): VNode => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

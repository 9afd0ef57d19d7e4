export { UnsupportedMediaError } from "./place.ts";
export { canRead } from "./reason.ts";
export { render } from "./render.ts";
export { Rendering, type CallReport, type RenderingOptions, type Report } from "./rendering.ts";
export { settle } from "./settle.ts";
export {
  hasExchange,
  type Exchange,
  type File,
  type ModelStep,
  type Result,
  type Step,
  type Transcript,
  type UserStep,
} from "./step.ts";
export {
  defaultPolicy,
  type IdFormat,
  type MediaCell,
  type MediaRow,
  type MediaRows,
  type OrderRule,
  type Policy,
  type Reader,
  type Target,
  type ThinkingRule,
  type ToolResponseLayout,
} from "./target.ts";

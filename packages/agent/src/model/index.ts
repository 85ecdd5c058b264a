// The model room: what a model is to everybody else, how it fails, and what it costs.

export * from "./model-error.ts";
export type * from "./port.ts";
export {
  computeCost,
  describeCost,
  type Cost,
  type ModelPrices,
  type ModelUsage,
} from "./prices.ts";

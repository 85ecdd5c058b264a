// The model module: the model interface, how a model fails, and what it costs.

export * from "./model-error.ts";
export type * from "./port.ts";
export {
  computeCost,
  describeCost,
  type Cost,
  type ModelPrices,
  type ModelUsage,
} from "./prices.ts";

// How one type of fact becomes records: what the fact carries, unchecked, and what the export knows so far.

import type { Fact, FactType } from "@soong/core";
import type { ExportState } from "./export-state.ts";
import type { Unchecked } from "../projection/read-fields.ts";

export type Mapper<T extends FactType> = (
  data: Unchecked<T>,
  state: ExportState,
  fact: Fact,
) => void;

export type Mappers<T extends FactType> = { readonly [Type in T]: Mapper<Type> };

// Ways to write a tool (DEF-6): one object per tool, or methods of a class with `@tool`. Types of the handler's input
// follow from the schema; nothing is checked here, because only a registry knows what the name and the schema have to fit.

import type { InferOutput, SchemaLike } from "@soong/schema";
import type { ToolContext } from "./context.ts";
import type { AnyTool, ToolDefinition } from "./definition.ts";

/** A tool from its definition; the handler's input has the type of the schema. */
export function defineTool<const Schema extends SchemaLike>(
  definition: ToolDefinition<Schema>,
): ToolDefinition<Schema> {
  return definition;
}

type WithoutHandler<Schema extends SchemaLike> = Omit<ToolDefinition<Schema>, "handler">;
type Method<Schema extends SchemaLike> = (
  this: never,
  input: InferOutput<Schema>,
  context: ToolContext,
) => unknown;

/** A decorator that makes a method a tool; `toolsOf` collects them. */
export function tool<const Schema extends SchemaLike>(about: WithoutHandler<Schema>) {
  return function decorate(method: Method<Schema>, context: ClassMethodDecoratorContext): void {
    context.addInitializer(function (this: unknown) {
      const owner = this as object;
      const own = decorated.get(owner) ?? [];
      // The method is one of this very class, whose type a decorator does not know.
      own.push({ ...about, handler: method.bind(owner as never) });
      decorated.set(owner, own);
    });
  };
}

/** The tools of one instance, in the order of its methods. */
export function toolsOf(instance: object): AnyTool[] {
  return [...(decorated.get(instance) ?? [])];
}

/** By instance: a static decorator list would bind every tool to the last instance made. */
const decorated = new WeakMap<object, AnyTool[]>();

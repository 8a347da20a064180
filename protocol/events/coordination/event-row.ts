import { z } from 'zod';

/** `tool_result` is `StreamToolResult` in the documents. */
const idOf = (type: string) => `Stream${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
/** The row of an event of a workstream. */
export const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S, id = idOf(type)) =>
  z.object({ type: z.literal(type), ...shape }).meta({ id });

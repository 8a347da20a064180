/** An object with named members: not an array, and not null. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether JSON data is nested deeper than `levels`. Without recursion, because the data may be made to exhaust the stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  let layer = [value];
  for (let depth = 0; layer.length > 0; depth += 1) {
    if (depth > levels) return true;
    layer = layer.flatMap((inner) => (isContainer(inner) ? Object.values(inner) : [])).filter(isContainer);
  }
  return false;
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

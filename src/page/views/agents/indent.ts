/** How far a row of a tree stands to the right; `depth` of the topmost rows is 0. */
export const indentOf = (depth: number) =>
  depth === 0 ? undefined : { paddingInlineStart: `${Math.min(depth, 6)}rem` };

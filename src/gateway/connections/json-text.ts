const MAX_LEVELS = 32;

export type JsonText = { kind: 'read'; value: unknown } | { kind: 'too-deep'; value: unknown } | { kind: 'unreadable' };

/** The value of one text frame; binary frames (undefined) are as unreadable as broken JSON. */
export function readJson(text: string | undefined): JsonText {
  if (text === undefined) return { kind: 'unreadable' };
  try {
    const value: unknown = JSON.parse(text);
    return { kind: isNestedDeeper(value, MAX_LEVELS) ? 'too-deep' : 'read', value };
  } catch {
    return { kind: 'unreadable' };
  }
}

/** Looks no deeper than it has to, so a hostile value cannot exhaust the stack. */
function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    if (isNestedDeeper(Reflect.get(value, key), levels - 1)) return true;
  }
  return false;
}

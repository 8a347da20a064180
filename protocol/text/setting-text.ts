import { isRecord } from '../is-record.ts';
import type { SettingDefinition } from '../methods/admin/settings.ts';

/** A value as a person edits it: a list with commas, an object as JSON, nothing as an empty text. */
export function toSettingText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.every(isPlain) ? value.join(', ') : JSON.stringify(value);
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** Numbers, and texts that a comma does not cut. */
const isPlain = (item: unknown): boolean =>
  typeof item === 'number' || (typeof item === 'string' && item !== '' && !item.includes(',') && !item.startsWith('['));

/** What a person typed, as `settings.set` takes it. A text that fits no value stays one: the daemon says what is wrong. */
export function toSettingInput({ type }: Pick<SettingDefinition, 'type'>, text: string): unknown {
  const trimmed = text.trim();
  switch (type) {
    case 'str':
      return text;
    case 'int':
    case 'float':
      return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
    case 'bool':
      return trimmed === 'true' || trimmed === 'false' ? trimmed === 'true' : text;
    case 'list':
      return trimmed.startsWith('[') ? (parsed(trimmed, Array.isArray) ?? text) : text;
    case 'object':
      return parsed(trimmed, isRecord) ?? text;
  }
}

function parsed(text: string, fits: (value: unknown) => boolean): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return fits(value) ? value : undefined;
  } catch {
    return undefined; // no JSON
  }
}

/** The range, such as `1 to 3600`, or `at least 1`; undefined without one. */
export function rangeOf({ minValue, maxValue }: Pick<SettingDefinition, 'minValue' | 'maxValue'>): string | undefined {
  if (minValue !== undefined && maxValue !== undefined) return `${minValue} to ${maxValue}`;
  if (minValue !== undefined) return `at least ${minValue}`;
  return maxValue === undefined ? undefined : `at most ${maxValue}`;
}

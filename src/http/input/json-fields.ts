import { z } from 'zod';
import { GatewayError } from '../../../protocol/errors.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import { wrongField } from '../../../protocol/parse.ts';
import { given } from '../bind.ts';
import { findPrototypeName } from './prototype-names.ts';

/** An array of texts, or its JSON text. */
export function toTexts(args: string | string[]): string[] {
  const { data } = z.array(z.string()).safeParse(typeof args === 'string' ? jsonIn('args', args) : args);
  if (data === undefined) throw wrongField('args', 'must be an array of texts, or its JSON text', { separator: ' ' });
  return data;
}

/** An object of texts, or its JSON text. */
export function toValues(field: string, values: string | Record<string, string>): Record<string, string> {
  const { data } = z
    .record(z.string(), z.string())
    .safeParse(typeof values === 'string' ? jsonIn(field, values) : values);
  if (data === undefined) throw wrongField(field, 'must be an object of texts, or its JSON text', { separator: ' ' });
  return data;
}

/** Undefined if it is not JSON, which the schema refuses. */
function jsonIn(field: string, text: string): unknown {
  const value = parsed(text);
  const refusal = findPrototypeName(text, value, field);
  if (refusal) throw refusal;
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A configuration file, or its text. */
export function toImport(config: unknown): Record<string, unknown> {
  const whole = typeof config === 'string' ? jsonIn('config', config) : config;
  if (isRecord(whole)) return whole;
  throw new GatewayError('INVALID_REQUEST', 'config is required (JSON object with mcpServers key)');
}

/** Throws with the words of the specification. */
export function toObject(field: string, value: unknown): Record<string, string> | undefined {
  if (value === undefined) return undefined;
  const { data } = z.record(z.string(), z.string()).safeParse(value);
  if (data === undefined) throw wrong(`${field} must be an object`);
  return data;
}

/** The place in a list, from 0. */
export function toIndex(value: unknown): number {
  const { data } = z
    .int()
    .min(0)
    .safeParse(value ?? 0);
  if (data === undefined) throw wrong('index must be an integer');
  return data;
}

const wrong = (words: string) => new GatewayError('INVALID_REQUEST', words);

/** A text that may not be empty. */
export function required(field: string, value: string | null | undefined): string {
  const text = given(value);
  if (text === undefined) throw wrong(`${field} is required`);
  return text;
}

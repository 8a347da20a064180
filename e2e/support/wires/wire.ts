import type { z } from 'zod';

/** What every maker demands of a request, and each in its own words. */
export const RULES = {
  shape: 'the fields, roles and kinds of content are known',
  alternation: 'people and the model take turns, and people begin',
  pairing: 'every call has one result right after it, and every result its call',
  order: 'results stand in the order of their calls, before anything else',
  empty: 'no message and no text is empty',
  arguments: 'the arguments of a call are an object',
  images: 'no more images than the model reads',
  window: 'the request fits into the context window',
  'tool-names': 'no two tools have the same name',
  'tool-schema': 'every tool has the schema of an object',
  signatures: 'signed or encrypted reasoning comes back as it was given',
  binding: 'reasoning stands after everything that stood before it',
  reasoning: 'reasoning that belongs to calls or items comes back with them',
} as const;
export type Rule = keyof typeof RULES;

/** How a server refuses a request. */
export interface Refusal {
  rule: Rule;
  status: number;
  body: object;
}

/** What a scripted model answers. */
export interface ScriptedAnswer {
  thoughts?: string;
  text?: string;
  calls?: readonly { id: string; name: string; arguments: object }[];
  /** Ends at the output limit. */
  isCut?: boolean;
}

/** What stands before the messages of a request, and the messages, both as the wire has them. */
export interface RequestParts {
  model: string;
  before: unknown;
  messages: readonly unknown[];
  /** The maker is to summarize the messages instead of answering. */
  isForSummary?: true;
}

/** Finds what is wrong with a request, in the words of the maker. Undefined: nothing. */
export type Check<Body> = (body: Body, limits: WireLimits) => string | undefined;

export interface WireLimits {
  /** Tokens. */
  window: number;
  images: number;
}

/** A server of one maker: its rules, the error bodies in which it refuses, and the form of its answers. */
export interface Wire<Body = unknown> {
  name: string;
  /** Whether a request to this path asks the model. */
  isAsked(path: string): boolean;
  schema: z.ZodType<Body>;
  checks: Partial<Record<Exclude<Rule, 'shape'>, Check<Body>>>;
  refuse(rule: Rule, message: string): Omit<Refusal, 'rule'>;
  /** The body with the model, where the path names it. */
  withModel?(body: object, path: string): object;
  /** The parts of a request that later ones repeat. */
  partsOf(body: Body): RequestParts;
  /** The events of an answer, and the thoughts that were left out of its request. */
  answer(body: Body, answer: ScriptedAnswer): { events: string[]; dropped: number };
  /** A text longer than this in tokens does not fit; images count apart. */
  tokensOf(body: Body): number;
}

/** Runs all rules, in the order of `RULES`. */
export function checkRequest<Body>(wire: Wire<Body>, body: unknown, limits: WireLimits): Refusal | Body {
  const parsed = wire.schema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const message = `${issue?.path.join('.')}: ${issue?.message}`;
    return { rule: 'shape', ...wire.refuse('shape', message) };
  }
  for (const rule of ORDER) {
    const message = rule === 'shape' ? undefined : wire.checks[rule]?.(parsed.data, limits);
    if (message !== undefined) return { rule, ...wire.refuse(rule, message) };
  }
  return parsed.data;
}

const ORDER = Object.keys(RULES).filter((name): name is Rule => name in RULES);

/** Of text in any form; images count apart. */
export const tokensIn = (value: unknown): number =>
  Math.ceil(JSON.stringify(value, (key, part: unknown) => (IMAGE_DATA.has(key) ? '' : part)).length / CHARS_PER_TOKEN);

const IMAGE_DATA = new Set(['data', 'image_url', 'encrypted_content', 'signature', 'thoughtSignature']);
const CHARS_PER_TOKEN = 4;

/** The first value that was there before. */
export function findTwice<T>(values: readonly T[]): T | undefined {
  return values.find((value, index) => values.indexOf(value) !== index);
}

/** Whether two lists have the same values in the same order. */
export const isSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((value, index) => value === others[index]);

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { toCanonicalJson } from '../../../canonical-json.ts';

/** Texts of authors whom nobody has checked. */
const Line = z.string().transform((text) => toVisibleLine(text.slice(0, 2_000)));
const Exact = z.string().max(4_096);

const Input = z.object({
  description: Line.optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  /** `boolean` for a switch. */
  format: z.string().max(64).optional(),
  /** The value itself, in which `{name}` stands for a variable. */
  value: Exact.optional(),
  default: Exact.optional(),
  choices: z.array(Exact).max(200).optional(),
});
const WithVariables = Input.extend({ variables: z.record(z.string().max(256), Input).optional() });
const Named = WithVariables.extend({ name: z.string().min(1).max(256) });
const Argument = WithVariables.extend({
  type: z.string(),
  name: z.string().max(256).optional(),
  valueHint: z.string().max(256).optional(),
});

const Package = z.object({
  registryType: z.string().max(64),
  registryBaseUrl: Exact.optional(),
  identifier: Exact,
  version: z.string().max(256).optional(),
  runtimeHint: z.string().max(64).optional(),
  transport: z.object({ type: z.string() }).optional(),
  runtimeArguments: z.array(Argument).max(100).default([]),
  packageArguments: z.array(Argument).max(100).default([]),
  environmentVariables: z.array(Named).max(100).default([]),
});
const Remote = z.object({
  type: z.string().max(64),
  url: Exact,
  headers: z.array(Named).max(100).default([]),
  variables: z.record(z.string().max(256), Input).optional(),
});

const Entry = z.object({
  name: z.string().min(1).max(256),
  title: Line.default(''),
  description: Line.default(''),
  version: z.string().max(256).default(''),
  websiteUrl: Line.default(''),
  repository: z.object({ url: Line.default('') }).optional(),
  packages: z.array(Package).max(100).default([]),
  remotes: z.array(Remote).max(100).default([]),
});

export type RegistryInput = z.infer<typeof Input>;
export type RegistryArgument = z.infer<typeof Argument>;
export type RegistryPackage = z.infer<typeof Package>;
export type RegistryRemote = z.infer<typeof Remote>;

/** An entry of the registry, with the digest of all that it says. */
export interface RegistryEntry extends z.infer<typeof Entry> {
  digest: string;
}

/** Undefined for what is no entry. */
export function readEntry(value: unknown): RegistryEntry | undefined {
  const { data } = Entry.safeParse(value);
  return data && { ...data, digest: digestOf(value) };
}

const digestOf = (value: unknown): string => createHash('sha256').update(toCanonicalJson(value)).digest('hex');

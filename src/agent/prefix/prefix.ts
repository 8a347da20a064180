import { arch, platform } from 'node:os';
import { toCanonicalJson } from '../../canonical-json.ts';
import type { Told } from '../message.ts';
import { digestOf } from '../project/instructions.ts';
import type { Model, ToolDefinition } from '../providers/model.ts';
import { fillTemplate } from './fill-template.ts';
import type { Sight } from './surroundings.ts';
import { systemPrompt } from './system-prompt.ts';

/**
 * The beginning of every request of a conversation: stored with it, and sent byte for byte until a cut. Models bind their
 * reasoning to it, and providers cache it.
 */
export interface Prefix {
  /** A new one after every cut. */
  version: string;
  /** The family of models that it was made for. */
  family: string;
  system: string;
  tools: readonly ToolDefinition[];
  /** What the system prompt tells. */
  told: Told;
}

/** A prefix that is about to be stored. */
export interface NewPrefix extends Prefix {
  /** The templates in it, before their variables were filled in. They stay when a cut makes another prefix. */
  templates: string;
}

/** Everything that a prefix is made from, and compared with later. */
export interface Now {
  sight: Sight;
  workdir: string;
  model: Pick<Model, 'modelId' | 'family'>;
  tools: readonly ToolDefinition[];
  notSandboxed: string | undefined;
}

/** The templates that a conversation begins with, and the variables that they may name. */
export interface PrefixTemplates {
  text: string;
  variables: Readonly<Record<'ws_id' | 'node_id', string>>;
}

/** Makes the prefix for a conversation that begins now. */
export function createPrefix(
  now: Now,
  { version, templates: { text, variables } }: { version: string; templates: PrefixTemplates },
): NewPrefix {
  const told = toldBy(now);
  const { date, zone, model, notSandboxed } = told;
  const filled = fillTemplate(text, new Map(Object.entries({ ...variables, model })));
  const facts = {
    workdir: now.workdir,
    git: now.sight.git,
    date,
    zone,
    model,
    notSandboxed,
    platform: `${platform()} ${arch()}`,
  };
  return {
    version,
    family: now.model.family,
    system: systemPrompt({ ...facts, templates: filled, instructions: now.sight.instructions.files }),
    tools: now.tools,
    told,
    templates: text,
  };
}

/** What a model knows after it was told everything. */
export const toldBy = ({ sight, model, tools, notSandboxed }: Now): Told => ({
  date: sight.date,
  zone: sight.zone,
  git: sight.git ?? null,
  model: model.modelId,
  notSandboxed: notSandboxed ?? null,
  instructions: Object.fromEntries(sight.instructions.files.map(({ path, digest }) => [path, digest])),
  tools: Object.fromEntries(tools.map(({ name, parameters }) => [name, digestOfTool(parameters)])),
});

/** Definitions do not change, and every turn compares them. */
const digests = new WeakMap<ToolDefinition['parameters'], string>();

function digestOfTool(parameters: ToolDefinition['parameters']): string {
  const digest = digests.get(parameters) ?? digestOf(toCanonicalJson(parameters));
  digests.set(parameters, digest);
  return digest;
}

import { GatewayError } from '../../../../protocol/errors.ts';
import type { McpRegistryServer } from '../../../../protocol/methods/mcp/mcp-registry.ts';
import type { RegistryArgument, RegistryInput, RegistryPackage, RegistryRemote } from './registry-entry.ts';

export type AskedInput = McpRegistryServer['choices'][number]['inputs'][number];
type Place = AskedInput['in'];
type Named = RegistryPackage['environmentVariables'][number];

/** What a person gives. */
export type GivenInputs = Readonly<Record<Place, Readonly<Record<string, string>>>>;

const VARIABLE = /\{([A-Za-z_][\w.-]{0,200})\}/g;

/** Everything that a way to run a server asks for. */
export function findInputs(way: RegistryPackage | RegistryRemote): AskedInput[] {
  const filler = new InputFiller({ variables: {}, env: {}, headers: {} });
  if ('url' in way) {
    filler.fillText(way.url, way.variables ?? {});
    filler.values('headers', way.headers);
  } else {
    for (const argument of way.packageArguments) filler.argument(nameOf(argument), argument);
    filler.values('env', way.environmentVariables);
  }
  return [...filler.asked.values()];
}

export const nameOf = ({ type, name = '', valueHint = name }: RegistryArgument): string =>
  type === 'named' ? name.replace(/^-+/, '') : valueHint;

/** Fills in what a person gave, and remembers what was asked for and what is missing. */
export class InputFiller {
  readonly #given: GivenInputs;
  readonly asked = new Map<string, AskedInput>();
  readonly #missing = new Map<string, AskedInput>();
  readonly #wrong: string[] = [];

  constructor(given: GivenInputs) {
    this.#given = given;
  }

  /** Variables of a program, or headers: those of the entry, and further ones that were given. */
  values(place: 'env' | 'headers', all: readonly Named[]): Record<string, string> {
    const values = new Map(Object.entries(this.#given[place]));
    for (const one of all) {
      const value = this.#valueOf({ place, name: one.name }, one);
      if (value === undefined) values.delete(one.name);
      else values.set(one.name, value);
    }
    return Object.fromEntries(values);
  }

  /** An argument of a program; undefined: it has no value. */
  argument(name: string, argument: RegistryArgument): string | undefined {
    return this.#valueOf({ place: 'variables', name }, argument);
  }

  /** A text of the entry, such as an address. */
  fillText(text: string, variables: Readonly<Record<string, RegistryInput>>): string {
    return text.replace(VARIABLE, (whole, name: string) => {
      // Braces that no variable is described for are a part of the text.
      const input = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (input === undefined) return whole;
      return this.#ask({ place: 'variables', name }, { ...input, isRequired: true }) ?? '';
    });
  }

  /** Throws INVALID_REQUEST with everything that is missing or wrong, also as data. */
  finish(): void {
    for (const place of ['variables', 'env', 'headers'] as const)
      for (const name of place === 'variables' ? Object.keys(this.#given[place]) : [])
        if (!this.asked.has(`${place}.${name}`))
          this.#wrong.push(`${place}.${name}: the server asks for no such value`);
    const missing = [...this.#missing.values()];
    const told = [
      ...missing.map(
        ({ in: place, name, description }) => `${place}.${name}${description && ` (${description})`}: is missing`,
      ),
      ...this.#wrong,
    ];
    if (told.length > 0)
      throw new GatewayError('INVALID_REQUEST', told.slice(0, MOST_TOLD).join('; '), { details: { missing } });
  }

  #valueOf(where: { place: Place; name: string }, input: Named | RegistryArgument): string | undefined {
    if (input.value !== undefined) return this.fillText(input.value, input.variables ?? {});
    return this.#ask(where, input);
  }

  #ask({ place, name }: { place: Place; name: string }, input: RegistryInput): string | undefined {
    const key = `${place}.${name}`;
    const asked: AskedInput = {
      in: place,
      name,
      description: input.description ?? '',
      isRequired: input.isRequired === true && input.default === undefined,
      isSecret: input.isSecret === true,
      ...(input.default !== undefined && { default: input.default }),
      ...(input.choices !== undefined && { choices: input.choices }),
    };
    this.asked.set(key, asked);
    const given = Object.hasOwn(this.#given[place], name) ? this.#given[place][name] : undefined;
    const value = given === undefined || given === '' ? input.default : given;
    if (value === undefined && asked.isRequired) this.#missing.set(key, asked);
    if (value !== undefined && input.choices !== undefined && !input.choices.includes(value))
      this.#wrong.push(`${key}: must be one of ${input.choices.join(', ')}`);
    return value;
  }
}

const MOST_TOLD = 20;

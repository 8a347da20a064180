import { GatewayError } from '../../../../protocol/errors.ts';
import type { McpRegistryServer } from '../../../../protocol/methods/mcp/mcp-registry.ts';
import { packageHostsOf } from '../package-hosts.ts';
import type { GivenFields } from '../server-input.ts';
import type { RegistryArgument, RegistryEntry, RegistryPackage, RegistryRemote } from './registry-entry.ts';
import { findInputs, type GivenInputs, InputFiller, nameOf } from './registry-inputs.ts';

type Choice = McpRegistryServer['choices'][number];

/** The ways to run a server of the registry. */
export const choicesOf = ({ remotes, packages }: RegistryEntry): Choice[] => [
  ...remotes.map(
    (remote, index): Choice => ({
      source: 'remote',
      index,
      type: remote.type,
      target: remote.url,
      version: '',
      problem: problemOfRemote(remote),
      inputs: findInputs(remote),
    }),
  ),
  ...packages.map(
    (one, index): Choice => ({
      source: 'package',
      index,
      type: one.registryType,
      target: one.identifier,
      version: one.version ?? '',
      problem: problemOfPackage(one),
      inputs: findInputs(one),
    }),
  ),
];

/** The settings of the server, in which every value that its entry asks for is filled in. Throws INVALID_REQUEST. */
export function planInstall(
  entry: RegistryEntry,
  { source, index }: Pick<Choice, 'source' | 'index'>,
  given: GivenInputs,
): GivenFields {
  const all = source === 'remote' ? entry.remotes : entry.packages;
  if (all[index] === undefined)
    throw wrong(`index must be below ${all.length}: ${entry.name} has ${all.length || 'no'} ${source}s`);
  const filler = new InputFiller(given);
  const remote = source === 'remote' ? entry.remotes[index] : undefined;
  const one = source === 'package' ? entry.packages[index] : undefined;
  const fields = remote ? planRemote(remote, filler) : one ? planPackage(one, filler) : {};
  filler.finish();
  return fields;
}

function planRemote(remote: RegistryRemote, filler: InputFiller): GivenFields {
  const problem = problemOfRemote(remote);
  if (problem !== undefined) throw wrong(problem);
  const url = filler.fillText(remote.url, remote.variables ?? {});
  return { transport: 'streamable-http', url, headers: filler.values('headers', remote.headers) };
}

const problemOfRemote = ({ type }: RegistryRemote): string | undefined =>
  type === 'streamable-http' ? undefined : `the transport ${type} is not supported`;

/** Programs that start a package in exactly one version, by where the package is from. */
const RUNNERS: Readonly<Record<string, { command: string; toArgs(identifier: string, version: string): string[] }>> = {
  npm: { command: 'npx', toArgs: (identifier, version) => ['-y', `${identifier}@${version}`] },
  pypi: { command: 'uvx', toArgs: (identifier, version) => [`${identifier}@${version}`] },
};
const IDENTIFIERS: Readonly<Record<string, RegExp>> = {
  npm: /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/,
  pypi: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
};
const EXACT_VERSION = /^[0-9][A-Za-z0-9.+!-]*$/;
const USUAL_REGISTRIES = /^https:\/\/(?:registry\.npmjs\.org|pypi\.org)\/?$/;

function planPackage(one: RegistryPackage, filler: InputFiller): GivenFields {
  const problem = problemOfPackage(one);
  const runner = RUNNERS[one.registryType];
  if (problem !== undefined || runner === undefined) throw wrong(problem ?? notRun(one));
  const { command, toArgs } = runner;
  return {
    transport: 'stdio',
    command,
    args: [...toArgs(one.identifier, one.version ?? ''), ...argumentsOf(one.packageArguments, filler)],
    env: filler.values('env', one.environmentVariables),
    network: packageHostsOf(command),
  };
}

function problemOfPackage(one: RegistryPackage): string | undefined {
  const {
    registryType,
    identifier,
    version = '',
    registryBaseUrl,
    runtimeArguments,
    environmentVariables,
    transport,
  } = one;
  if (RUNNERS[registryType] === undefined) return notRun(one);
  if (!IDENTIFIERS[registryType]?.test(identifier)) return `${identifier} is not the name of a package`;
  if (!EXACT_VERSION.test(version)) return 'the entry names no exact version';
  if (registryBaseUrl !== undefined && !USUAL_REGISTRIES.test(registryBaseUrl))
    return `packages of ${registryBaseUrl} are not supported`;
  // Others could make the runner start another package than the one that is pinned.
  if (!runtimeArguments.every(({ name, value = name }) => value !== undefined && HARMLESS.has(value)))
    return `its entry has arguments for ${RUNNERS[registryType]?.command} that are not supported`;
  const steering = environmentVariables.find(({ name }) => STEERING.test(name) && !HARMLESS_VARIABLES.has(name));
  if (steering) return `its entry sets ${steering.name}, which could make another program run`;
  if (transport !== undefined && transport.type !== 'stdio')
    return `a program with the transport ${transport.type} is not supported`;
  return undefined;
}

const HARMLESS: ReadonlySet<string> = new Set(['-y', '--yes', '-q', '--quiet']);

/** Variables that choose what a runner, its language or its loader runs, or where its packages come from. */
const STEERING =
  /^(?:(?:npm|pnpm|bun)_config_|UV_|PIP_|PYTHON|LD_|DYLD_|SSL_CERT_|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)$|(?:PATH|HOME|XDG_CONFIG_HOME|BASH_ENV|VIRTUAL_ENV)$)/i;
/** Usual in entries. */
const HARMLESS_VARIABLES: ReadonlySet<string> = new Set([
  'PYTHONUNBUFFERED',
  'PYTHONIOENCODING',
  'PYTHONUTF8',
  'PYTHONDONTWRITEBYTECODE',
]);

const notRun = ({ registryType }: RegistryPackage): string =>
  `packages of the type ${registryType} are not supported; npm and pypi are`;

/** Optional arguments without a value are left out. */
const argumentsOf = (all: readonly RegistryArgument[], filler: InputFiller): string[] =>
  all.flatMap((argument) => {
    const { type, name = '' } = argument;
    if (type !== 'named') return filler.argument(nameOf(argument), argument) ?? [];
    const value = filler.argument(nameOf(argument), argument);
    if (value === undefined || (argument.format === 'boolean' && value !== 'true')) return [];
    return argument.format === 'boolean' ? [name] : [name, value];
  });

const wrong = (problem: string) => new GatewayError('INVALID_REQUEST', problem);

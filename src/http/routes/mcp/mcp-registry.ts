import { mcpRegistryEndpoints } from '../../../../protocol/http/mcp/mcp-registry.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind, given } from '../../bind.ts';
import { required, toIndex, toObject } from '../../input/json-fields.ts';
import { toMcpServer } from './mcp-admin.ts';

type Found = Result<'mcp.registry.search'>['servers'][number];
type Choice = Found['choices'][number];

const toInputs = ({ inputs }: Choice, place: Choice['inputs'][number]['in']) =>
  inputs
    .filter((input) => input.in === place)
    .map(({ name, description, isRequired, isSecret, default: usual, choices }) => ({
      name,
      description,
      is_required: isRequired,
      is_secret: isSecret,
      default: usual ?? null,
      choices: choices ?? null,
    }));

const toRow = (server: Found) => ({
  name: server.name,
  description: server.description,
  title: server.title,
  version: server.version,
  website_url: server.websiteUrl,
  repository: server.repository,
  digest: server.digest,
  remotes: server.choices
    .filter(({ source }) => source === 'remote')
    .map((choice) => ({
      type: choice.type,
      url: choice.target,
      problem: choice.problem ?? '',
      headers: toInputs(choice, 'headers'),
      variables: toInputs(choice, 'variables'),
    })),
  packages: server.choices
    .filter(({ source }) => source === 'package')
    .map((choice) => ({
      registry_type: choice.type,
      identifier: choice.target,
      version: choice.version,
      problem: choice.problem ?? '',
      environment_variables: toInputs(choice, 'env'),
      variables: toInputs(choice, 'variables'),
    })),
  installed: server.installedServerId !== undefined,
  installed_server_id: server.installedServerId ?? '',
  installed_version: server.installedVersion ?? '',
  update_available: server.updateAvailable,
});

/** The registry did not answer as it should: that is no fault of the daemon. */
const statuses = { UNAVAILABLE: 502 } as const;

export const mcpRegistryRoutes = [
  bind(mcpRegistryEndpoints.search, 'mcp.registry.search', {
    params: ({ search, type, limit, cursor }) => ({
      search: given(search),
      type: given(type),
      limit: limit ?? undefined,
      cursor: given(cursor),
    }),
    reply: ({ servers, total, nextCursor }) => ({
      servers: servers.map(toRow),
      total,
      next_cursor: nextCursor ?? null,
    }),
    statuses,
  }),
  bind(mcpRegistryEndpoints.install, 'mcp.registry.install', {
    params: (request) => ({
      registryName: required('registry_name', request.registry_name),
      version: given(request.registry_version),
      digest: given(request.digest),
      source: request.source || 'none',
      index: toIndex(request.index),
      name: given(request.name),
      variables: toObject('variables', request.variables),
      env: toObject('env', request.env),
      headers: toObject('headers', request.headers),
      network: request.network ?? undefined,
    }),
    reply: toMcpServer,
    fieldNames: { version: 'registry_version', variables: 'variables', env: 'env', headers: 'headers' },
    statuses,
  }),
];

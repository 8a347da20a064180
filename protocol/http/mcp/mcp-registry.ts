import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { mcpAdminEndpoints } from './mcp-admin.ts';

const Input = z.object({
  name: z.string(),
  description: z.string(),
  is_required: z.boolean(),
  is_secret: z.boolean(),
  default: z.string().nullable(),
  choices: z.array(z.string()).nullable(),
});

/** A way to run it; its place in the list is the `index` of an install. */
const inputs = {
  /** Why it cannot be installed; empty: it can. */
  problem: z.string(),
  variables: z.array(Input),
};

const Row = z.object({
  name: z.string(),
  description: z.string(),
  title: z.string(),
  version: z.string(),
  website_url: z.string(),
  repository: z.string(),
  digest: z.string(),
  remotes: z.array(z.object({ type: z.string(), url: z.string(), headers: z.array(Input), ...inputs })),
  packages: z.array(
    z.object({
      registry_type: z.string(),
      identifier: z.string(),
      version: z.string(),
      environment_variables: z.array(Input),
      ...inputs,
    }),
  ),
  installed: z.boolean(),
  installed_server_id: z.string(),
  installed_version: z.string(),
  update_available: z.boolean(),
});

/** Anything else is refused with the words of the specification. */
const Values = z.union([z.record(z.string(), z.string()), z.unknown()]).optional();

const UPSTREAM = 'Registry error: it answered with status 500';

/** The registry of tool servers (HTTP.md, "Tool servers"). */
export const mcpRegistryEndpoints = {
  search: endpoint({
    verb: 'get',
    path: '/v1/api/admin/mcp-registry/search',
    summary: 'Search the registry of tool servers.',
    scope: 'approve',
    request: () =>
      z.object({
        search: z.string().nullish(),
        /** `remote`, `npm` or `pypi`. */
        type: z.string().nullish(),
        limit: z.coerce.number().int().nullish(),
        cursor: z.string().nullish(),
      }),
    reply: () => z.object({ servers: z.array(Row), total: z.int(), next_cursor: z.string().nullable() }),
    errors: { 400: "type must be 'remote', 'npm' or 'pypi'", 502: UPSTREAM },
  }),
  install: endpoint({
    verb: 'post',
    path: '/v1/api/admin/mcp-registry/install',
    summary: 'Add a tool server of the registry, in exactly the version that the registry names.',
    scope: 'approve',
    request: () =>
      z.object({
        registry_name: z.string().nullish(),
        /** Default: the latest one. */
        registry_version: z.string().nullish(),
        digest: z.string().nullish(),
        /** `remote` or `package`. */
        source: z.string().nullish(),
        index: z.union([z.int(), z.unknown()]).optional(),
        name: z.string().nullish(),
        variables: Values,
        env: Values,
        headers: Values,
        network: z.array(z.string()).nullish(),
      }),
    reply: () => mcpAdminEndpoints.create.reply(),
    errors: {
      400: "registry_name is required, source must be 'remote' or 'package', index must be an integer, variables must be an object, or env.TOKEN: is missing",
      404: 'The registry has no server x',
      409: "Server 'x' already exists, or Maximum 200 servers",
      502: UPSTREAM,
    },
  }),
};

import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { McpServer } from '../admin/mcp.ts';

/** Something that a person has to give, or may. */
const RegistryInput = z
  .strictObject({
    /** Where it is given. */
    in: z.enum(['variables', 'env', 'headers']),
    name: z.string(),
    description: z.string(),
    isRequired: z.boolean(),
    isSecret: z.boolean(),
    default: z.string().optional(),
    choices: z.array(z.string()).optional(),
  })
  .meta({ id: 'McpRegistryInput' });

/** A way to run a server of the registry. */
const RegistryChoice = z
  .strictObject({
    source: z.enum(['remote', 'package']),
    index: z.int().min(0),
    /** `streamable-http` or `sse` of a remote; `npm`, `pypi`, `oci` and the like of a package. */
    type: z.string(),
    /** The address, or the name of the package. */
    target: z.string(),
    version: z.string(),
    /** Why it cannot be installed. */
    problem: z.string().optional(),
    inputs: z.array(RegistryInput),
  })
  .meta({ id: 'McpRegistryChoice' });

/** A server of the registry. Its texts are those of its author. */
export const McpRegistryServer = z
  .strictObject({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    version: z.string(),
    websiteUrl: z.string(),
    repository: z.string(),
    /** SHA-256 of its entry; an install that names it installs this entry and no other. */
    digest: z.string(),
    choices: z.array(RegistryChoice),
    /** The server that was installed from it. */
    installedServerId: z.string().optional(),
    installedVersion: z.string().optional(),
    /** The registry has another version, or another entry of the same version. */
    updateAvailable: z.boolean(),
  })
  .meta({ id: 'McpRegistryServer' });
export type McpRegistryServer = z.infer<typeof McpRegistryServer>;

const Values = z.record(z.string().max(256), z.string().max(32_768));

/** The registry of tool servers. */
export const mcpRegistryContracts = {
  'mcp.registry.search': contract({
    summary: 'Search the registry of tool servers.',
    scope: 'approve',
    permission: 'admin.mcp',
    weight: 5,
    params: () =>
      z
        .strictObject({
          search: optionalText(256),
          /** Only servers with such a way to run: `remote`, `npm` or `pypi`. */
          type: optionalText(16),
          /** Default: 30. */
          limit: z.int().min(1).max(100).optional(),
          cursor: optionalText(1_024),
        })
        .meta({ id: 'McpRegistrySearchParams' }),
    result: () =>
      z
        .strictObject({
          servers: z.array(McpRegistryServer),
          total: z.int().min(0),
          /** For the next page; absent on the last one. */
          nextCursor: z.string().optional(),
        })
        .meta({ id: 'McpRegistrySearchResult' }),
  }),
  'mcp.registry.install': contract({
    summary: 'Add a tool server of the registry, in exactly the version that the registry names.',
    scope: 'approve',
    permission: 'admin.mcp',
    audit: { action: 'mcp.install', id: 'serverId', of: 'mcp' },
    stepUp: always,
    refusesServices: true,
    weight: 5,
    params: () =>
      z
        .strictObject({
          /** Its name in the registry. */
          registryName: NonEmpty.max(256),
          /** Default: the latest one. */
          version: optionalText(256),
          /** The digest that a search showed; another entry is refused. */
          digest: optionalText(64),
          /** `remote` or `package`. */
          source: NonEmpty.max(16),
          /** Which of them. Default: 0. */
          index: z.int().min(0).max(99).optional(),
          /** The name of the server here. Default: the last part of its name in the registry. */
          name: optionalText(256),
          variables: Values.optional(),
          env: Values.optional(),
          headers: Values.optional(),
          /** Hosts that it may connect to, in addition to the registry of its packages. */
          network: z.array(z.string().max(300)).max(200).optional(),
        })
        .meta({ id: 'McpRegistryInstallParams' }),
    result: () => McpServer,
    serial: () => 'mcp',
  }),
};

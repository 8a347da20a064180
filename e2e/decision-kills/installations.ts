import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { skillFile, sourceServer } from '../../src/gateway/skills/install/source-fixture.ts';
import { closeRegistry, ENTRY, startRegistry } from '../support/mcp/registry.ts';

/** Something that an administrator installs with one call. */
export interface Installation extends AsyncDisposable {
  config: object;
  /** Rejects with CONFLICT if all of it is there already. */
  install(client: GatewayClient, tag: string): Promise<unknown>;
  /** What a complete installation leaves, one line each, in any order. */
  expected(tag: string): string[];
  /** What there is. */
  found(client: GatewayClient, tag: string): Promise<string[]>;
}

/** Two skills of one repository, one of them with files. */
async function skills(): Promise<Installation> {
  const source = await sourceServer();
  const { discoveryUrl, apiUrl: githubApiUrl, rawUrl: githubRawUrl } = source.sources;
  const namesOf = (tag: string) => [`a-${tag}`, `b-${tag}`];
  return {
    config: { skills: { discoveryUrl, githubApiUrl, githubRawUrl } },
    async install(client, tag) {
      const [one = '', two = ''] = namesOf(tag);
      source.repositories[`ada/${tag}@main`] = {
        [`${one}/SKILL.md`]: skillFile(one),
        [`${two}/SKILL.md`]: skillFile(two),
        [`${two}/scripts/run.sh`]: 'echo run',
        [`${two}/references/more.md`]: 'more',
      };
      await client.call('skill.install', { source: 'github', url: `https://github.com/ada/${tag}` });
    },
    expected(tag) {
      const [one = '', two = ''] = namesOf(tag);
      return [`skill ${one}`, `skill ${two}`, `${two} references/more.md`, `${two} scripts/run.sh`];
    },
    async found(client, tag) {
      const { skills: all } = await client.call('skill.details', {});
      const ours = all.filter(({ name }) => name.endsWith(tag));
      const files = ours.map(async ({ skillId, name }) => {
        const { resources } = await client.call('skill.resource.list', { skillId });
        return resources.map(({ path }) => `${name} ${path}`);
      });
      return [...ours.map(({ name }) => `skill ${name}`), ...(await Promise.all(files)).flat()];
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** A server of the registry, with its record. */
async function toolServer(): Promise<Installation> {
  return {
    config: { mcp: { registryUrl: await startRegistry() } },
    install: (client, name) =>
      client.call('mcp.registry.install', {
        ...{ registryName: ENTRY.name, source: 'remote', name, variables: { token: 'x' } },
      }),
    expected: (tag) => [`server ${tag} https://main.example.com/mcp`, `record ${tag}`],
    async found(client, tag) {
      const { servers } = await client.call('mcp.list', {});
      const ours = servers.filter(({ name }) => name === tag);
      const { events } = await client.call('audit.list', { action: 'mcp.install', limit: 200 });
      const records = events.filter(({ resourceId }) => ours.some(({ serverId }) => serverId === resourceId));
      return [...ours.map(({ name, url }) => `server ${name} ${url}`), ...records.map(() => `record ${tag}`)];
    },
    async [Symbol.asyncDispose]() {
      closeRegistry();
    },
  };
}

/** What is installed, by mode. */
export const INSTALLATIONS = { skill: skills, server: toolServer } as const satisfies Record<
  string,
  () => Promise<Installation>
>;

export const isInstallation = (mode: string): mode is keyof typeof INSTALLATIONS => Object.hasOwn(INSTALLATIONS, mode);

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../clock.ts';
import type { Connection } from '../../../egress/proxy/egress-proxy.ts';
import { createCheckedGet, createCheckedSend } from '../../../egress/web/checked-get.ts';
import { randomIds } from '../../../ids.ts';
import { testGuard } from '../../guard/guard-fixture.ts';
import type { HostRule } from '../../permissions/rules/host-rule.ts';
import type { ToolContext, ToolOutcome } from '../tool.ts';
import { createToolFixture, recordRun } from '../tool-fixture.ts';
import { localLookup } from './private-addresses-fixture.ts';
import { createWebSearchTool, type SearchSettings } from './search/web-search.ts';
import { createWebFetchTool } from './web-fetch.ts';

interface Replaced {
  lookup?: LookupFunction;
  clock?: Clock;
  environment?: Record<string, string>;
}

/** The tool, as if a person allowed each call, and servers of this machine. */
export async function openWeb(
  t: TestContext,
  { lookup = localLookup, clock = systemClock, environment = {} }: Replaced = {},
) {
  const fixture = await createToolFixture();
  const allowedHosts: string[] = [];
  const connections: Connection[] = [];
  const outputs = join(fixture.home, 'outputs');
  const tool = createWebFetchTool({
    get: createCheckedGet({ environment, lookup }),
    live: { allowedHosts },
    audit: { onConnection: (connection) => connections.push(connection) },
    workerUrl: new URL('./page-worker.ts', import.meta.url),
    outputs,
    guard: testGuard(),
    clock,
    ids: randomIds,
  });
  const web = {
    tool,
    outputs,
    connections,
    /** The permission rule about a host. */
    rule: (_host: string): HostRule | undefined => undefined,
    allow: (...hosts: string[]) => void allowedHosts.push(...hosts),
    /** The other tool, for a service. */
    searchWith: (settings: SearchSettings | undefined) =>
      createWebSearchTool({
        settings,
        send: createCheckedSend({ environment, lookup }),
        live: { allowedHosts },
        audit: { onConnection: (connection) => connections.push(connection) },
        guard: testGuard(),
        clock,
      }),
    /** Answers at `http://<any name>:<port>/`. */
    async serve(listener: RequestListener) {
      let count = 0;
      const server = createServer(listener).on('connection', () => {
        count += 1;
      });
      await once(server.listen(0, '::'), 'listening');
      t.after(() => {
        server.closeAllConnections();
        server.close();
      });
      return { port: (server.address() as AddressInfo).port, connections: () => count };
    },
    context: (): ToolContext => ({
      ...fixture.context(),
      hosts: { canAsk: true, ruleOn: (_, host) => web.rule(host) },
    }),
    prepare: (url: string) => tool.prepare(tool.parameters.parse({ url }), web.context()),
    async read(url: string, signal?: AbortSignal): Promise<ToolOutcome> {
      const prepared = await web.prepare(url);
      if (prepared.kind === 'refused') return { output: prepared.reason, outcome: 'failed' };
      const { guarded: _, ...outcome } = await prepared.execute(recordRun(signal));
      return outcome;
    },
    /** `read`, the reason for which a host was refused, or `words` if there is only a sentence. */
    async howRefused(url: string, signal?: AbortSignal): Promise<string> {
      const { outcome, refusedHosts } = await web
        .read(url, signal)
        .catch(() => ({ outcome: 'failed', refusedHosts: [] }));
      return outcome === 'done' ? 'read' : (refusedHosts?.[0]?.reason ?? 'words');
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
  return web;
}

import assert from 'node:assert/strict';
import { createHttpClient } from '../../protocol/client/http-client.ts';
import { authEndpoints } from '../../protocol/http/accounts/auth.ts';
import { healthEndpoints } from '../../protocol/http/health.ts';
import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import { openSse } from '../support/clients/sse.ts';
import type { Load } from './load.ts';

/** A visit by a browser: loads the page, logs in, reads the lists, watches all workstreams for a while, logs out. */
export async function visit(load: Load): Promise<void> {
  const { daemon } = load;
  const page = await fetch(daemon.url);
  assert.match(await page.text(), /<title>/);
  const { jwt } = await createHttpClient({ baseUrl: daemon.url }).call(authEndpoints.login, { token: daemon.token });
  const http = createHttpClient({ baseUrl: daemon.url, token: jwt });
  await http.call(healthEndpoints.health, {});
  await http.call(workstreamEndpoints.list, {});
  await http.call(workstreamEndpoints.saved, { limit: 50 });
  const stream = await openSse(new URL('/v1/api/events/global', daemon.url), { token: jwt });
  await load.wait(500 + load.random() * 1_500, load.stopping);
  await stream.close();
  await http.call(authEndpoints.logout, {});
  const after = await fetch(new URL('/v1/api/workstreams', daemon.url), {
    headers: { authorization: `Bearer ${jwt}` },
  });
  await after.body?.cancel();
  assert.equal(after.status, 401);
  load.count('visits');
}

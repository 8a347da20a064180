import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CLUSTER_EVENTS } from '../../protocol/events/cluster.ts';
import { clusterEndpoints } from '../../protocol/http/cluster.ts';
import { needs } from '../../src/testing/needs.ts';
import type { SseFrame, SseReader } from '../support/clients/sse.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';
import { closeScene, nodeIdOf, startOne, untilForwarding, untilServing } from './two-daemons.ts';

const installed = await needs('postgresql');

after(closeScene);

const nodesOf = async (daemon: DaemonUnderTest) =>
  clusterEndpoints.nodes.reply().parse((await daemon.get('/v1/api/cluster/nodes')).body);

/** The events about a machine, one after the other. */
function eventsOf(stream: SseReader, nodeId: string) {
  let last: SseFrame | undefined;
  return async () => {
    const isOfNode = ({ data: { type, node_id: id } }: SseFrame) =>
      (type === 'node_joined' || type === 'node_lost') && id === nodeId;
    last = await stream.until(isOfNode, { ...(last && { after: last }), timeoutMs: 60_000 });
    const { data } = last;
    return data.type === 'node_joined' ? CLUSTER_EVENTS.node_joined.parse(data) : CLUSTER_EVENTS.node_lost.parse(data);
  };
}

// The database also knows the lost machines of other tests.
test(
  'the views of the cluster show every machine, also at a standby, and their stream tells when one comes or goes',
  installed,
  async () => {
    await using active = await startOne();
    await untilServing(active);
    const activeId = await nodeIdOf(active);
    await using stream = await active.sse('/v1/api/cluster/events');
    const { data: snapshot } = await stream.until('snapshot');
    const serving = (nodes: { node_id: string; state: string }[]) =>
      nodes.filter(({ state }) => state === 'active').map(({ node_id: id }) => id);
    assert.deepEqual(serving(snapshot.nodes), [activeId]);

    await using standby = await startOne();
    await untilForwarding(standby);
    const standbyId = await nodeIdOf(standby);
    const next = eventsOf(stream, standbyId);
    assert.deepEqual(await next(), { type: 'node_joined', node_id: standbyId });
    // Its first report comes before it has a port.
    const isKnown = async (): Promise<boolean> => {
      const { server_url: url } = (await nodesOf(active)).nodes.find(({ node_id: id }) => id === standbyId) ?? {};
      assert.ok(url === '' || url === standby.url, `it is at ${url}`);
      return url !== '' || isKnown();
    };
    await within(isKnown(), 60_000, () => 'the address of the standby is known');
    const [{ nodes, total }, elsewhere] = [await nodesOf(active), await nodesOf(standby)];
    assert.deepEqual([serving(nodes), total], [[activeId], nodes.length]);
    const idsOf = (list: typeof nodes) => list.map(({ node_id: id }) => id);
    assert.deepEqual(idsOf(elsewhere.nodes), idsOf(nodes));
    const byId = new Map(nodes.map((node) => [node.node_id, node]));
    assert.deepEqual(
      [activeId, standbyId].map((id) => {
        const { state, reachable, server_url: url, health } = byId.get(id) ?? {};
        return [state, reachable, url, health?.status];
      }),
      [
        ['active', true, active.url, 'ok'],
        ['standby', true, standby.url, undefined],
      ],
    );
    const detail = await active.get(`/v1/api/cluster/node/${standbyId}`);
    assert.deepEqual(clusterEndpoints.node.reply().parse(detail.body), { ...byId.get(standbyId), workstreams: [] });
    const overview = clusterEndpoints.overview.reply().parse((await active.get('/v1/api/cluster/overview')).body);
    assert.deepEqual([overview.nodes, overview.version_drift], [total, false]);
    const refused = await active.post('/v1/api/cluster/workstreams/new', { node_id: standbyId });
    assert.equal(refused.status, 409);
    assert.ok(refused.body.error.includes(activeId), refused.body.error);

    await standby.kill9();
    assert.deepEqual(await next(), { type: 'node_lost', node_id: standbyId });
    const found = async () => (await nodesOf(active)).nodes.find(({ node_id: id }) => id === standbyId);
    const gone = await found();
    assert.deepEqual([gone?.state, gone?.reachable], ['lost', false]);
    await standby.restart();
    assert.deepEqual(await next(), { type: 'node_joined', node_id: standbyId });
    await standby.stop();
    assert.deepEqual(await next(), { type: 'node_lost', node_id: standbyId });
    assert.equal(await found(), undefined, 'one that stopped in order is forgotten');
  },
);

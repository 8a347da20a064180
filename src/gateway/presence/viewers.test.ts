import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Broadcast } from '../connections/broadcast.ts';
import type { Viewer, Watched } from '../sharing/perception.ts';
import { createViewers } from './viewers.ts';

const user = (userId: string): Viewer => ({ userId, permissions: new Set() });

function open() {
  const workstreams = new Map<string, Watched>(
    ['w', 'x'].map((wsId) => [wsId, { wsId, ownerId: 'user_ada', visibility: 'shared' }]),
  );
  const told: string[] = [];
  const publishOf: Broadcast['publishOf'] = (_, event, payload) =>
    void told.push(`${event} ${JSON.stringify(payload)}`);
  let onShared: (wsId: string) => void = () => assert.fail('nobody listens');
  const viewers = createViewers({
    sharing: {
      onChanged(listener) {
        onShared = listener;
      },
    },
    workstreams: {
      find(wsId) {
        const data = workstreams.get(wsId);
        return data && { data };
      },
    },
    broadcast: { publishOf },
  });
  const connect = (viewer: Viewer) => {
    const ending = new AbortController();
    return {
      view: (wsId?: string) => viewers.view({ wsId, viewer, signal: ending.signal }),
      end: () => ending.abort(),
    };
  };
  const takeTold = () => told.splice(0).map((event) => event.replace('workstream.viewers ', ''));
  const share = (wsId: string, visibility: 'private' | 'shared') => {
    workstreams.set(wsId, { wsId, ownerId: 'user_ada', visibility });
    onShared(wsId);
  };
  return { workstreams, share, viewers, connect, takeTold };
}

test('who sees a workstream is told when a person comes or goes, and not for a second tab of the same person', () => {
  const { connect, takeTold, viewers } = open();
  const [ada, again, bob, operator] = [
    user('user_ada'),
    user('user_ada'),
    user('user_bob'),
    { permissions: new Set() },
  ];
  const tabs = [ada, again, bob, operator as Viewer].map(connect);
  for (const tab of tabs) tab.view('w');
  assert.deepEqual(takeTold(), [
    '{"wsId":"w","userIds":["user_ada"]}',
    '{"wsId":"w","userIds":["user_ada","user_bob"]}',
    '{"wsId":"w","userIds":["user_ada","user_bob",""]}',
  ]);
  tabs[0]?.end();
  assert.deepEqual([takeTold(), viewers.of('w')], [[], ['user_ada', 'user_bob', '']]);
  tabs[1]?.view('x');
  tabs[2]?.view();
  tabs[2]?.end();
  assert.deepEqual(takeTold(), [
    '{"wsId":"w","userIds":["user_bob",""]}',
    '{"wsId":"x","userIds":["user_ada"]}',
    '{"wsId":"w","userIds":[""]}',
  ]);
});

test('the operator, who has no user id, is told of like everybody', () => {
  const { connect, takeTold } = open();
  const operator = connect({ permissions: new Set() });
  operator.view('w');
  operator.end();
  assert.deepEqual(takeTold(), ['{"wsId":"w","userIds":[""]}', '{"wsId":"w","userIds":[]}']);
});

test('a person who no longer perceives a workstream is not named, and a call after the end of a connection counts for nothing', () => {
  const { connect, takeTold, viewers, workstreams } = open();
  const [ada, bob] = [connect(user('user_ada')), connect(user('user_bob'))];
  bob.view('w');
  takeTold();
  workstreams.set('w', { wsId: 'w', ownerId: 'user_ada', visibility: 'private' });
  ada.view('w');
  assert.deepEqual(takeTold(), ['{"wsId":"w","userIds":["user_ada"]}']);
  ada.end();
  ada.view('w');
  assert.deepEqual([takeTold(), viewers.of('w'), viewers.of('gone')], [['{"wsId":"w","userIds":[]}'], [], []]);
});

test('who sees a workstream is told when it is hidden from one of them, and when it is shared again', () => {
  const { connect, takeTold, share } = open();
  for (const userId of ['user_ada', 'user_bob']) connect(user(userId)).view('w');
  share('x', 'private');
  takeTold();
  share('w', 'private');
  share('w', 'private');
  assert.deepEqual(takeTold(), ['{"wsId":"w","userIds":["user_ada"]}']);
  share('w', 'shared');
  assert.deepEqual(takeTold(), ['{"wsId":"w","userIds":["user_ada","user_bob"]}']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelFigures } from './channel-metrics.ts';
import { createMetrics } from './metrics.ts';

test('updates and parts are counted by their ends, and the gauges show the services that are set up', async () => {
  const metrics = createMetrics();
  const world: { figures: ChannelFigures[] } = { figures: [] };
  metrics.observeChannels(() => world.figures);
  const lines = async () =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith('service_channel_'))
      .sort();
  assert.deepEqual(await lines(), []);
  world.figures = [
    { channel: 'telegram', isUp: false, backlog: 3, silentMs: 1_500 },
    { channel: 'whatsapp', isUp: true, backlog: 0, silentMs: undefined },
  ];
  metrics.channelUpdate('telegram', 'accepted');
  metrics.channelUpdate('telegram', 'accepted');
  metrics.channelUpdate('telegram', 'ignored');
  metrics.channelPart('whatsapp', 'ambiguous');
  assert.deepEqual(await lines(), [
    'service_channel_backlog{channel="telegram"} 3',
    'service_channel_backlog{channel="whatsapp"} 0',
    'service_channel_parts_total{channel="whatsapp",state="ambiguous"} 1',
    'service_channel_poll_age_seconds{channel="telegram"} 1.5',
    'service_channel_updates_total{channel="telegram",outcome="accepted"} 2',
    'service_channel_updates_total{channel="telegram",outcome="ignored"} 1',
    'service_channel_up{channel="telegram"} 0',
    'service_channel_up{channel="whatsapp"} 1',
  ]);
  world.figures = [];
  assert.deepEqual(
    (await lines()).filter((line) => !line.includes('_total')),
    [],
  );
});

import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { KnownSecrets } from './known-secrets.ts';
import { createOutputGuard, type GuardSettings, type OutputGuard } from './output-guard.ts';

/** A guard with the default settings that knows these secrets. */
export function testGuard(known: readonly string[] = [], settings: Partial<GuardSettings> = {}): OutputGuard {
  const secrets = new KnownSecrets(known);
  return createOutputGuard({
    known: () => secrets,
    settings: { outputGuard: true, redactSecrets: true, ...settings },
    clock: fakeClock(1_000),
    log: recordingLog(),
  });
}

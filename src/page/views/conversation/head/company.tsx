import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Viewers } from '../../../state/accounts/viewers.ts';
import type { App, Desk } from '../../../state/app.ts';
import { Icon } from '../../icons.tsx';

interface CompanyProps {
  app: App;
  desk: Desk;
  wsId: string;
}

/** Who else sees this workstream now. */
export function Company({ app, desk, wsId }: CompanyProps) {
  const { owners } = desk;
  const userIds = useViewers(desk, wsId);
  useEffect(() => void owners.read(userIds.map((userId) => ({ userId }))), [owners, userIds]);
  const names = userIds.flatMap((userId) => owners.otherThan(app.who.value, { userId }) ?? []);
  return (
    <span role="status">
      {names.length > 0 && (
        <span class="fact owner" title={`Also here: ${names.join(', ')}`}>
          <Icon name="people" />
          <span class="hidden-text">Also here: </span>
          <bdi>{names.join(', ')}</bdi>
        </span>
      )}
    </span>
  );
}

/** A tab that nobody can see does not count as looking. */
function useViewers({ client }: Desk, wsId: string): readonly string[] {
  const seen = useSignal<string | undefined>(undefined);
  const viewers = useMemo(() => new Viewers({ client, seen }), [client]);
  useEffect(() => {
    const look = () => {
      seen.value = document.visibilityState === 'visible' ? wsId : undefined;
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [wsId]);
  useEffect(
    () => () => {
      seen.value = undefined;
      viewers.stop();
    },
    [viewers],
  );
  return viewers.userIds.value;
}

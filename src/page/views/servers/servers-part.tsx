import type { App, Desk } from '../../state/app.ts';
import { ConsentList } from '../consents/consent-list.tsx';
import type { Overlay } from '../overlay.ts';
import { ServerList } from './server-list.tsx';

interface ServersPartProps {
  app: App;
  desk: Desk;
  overlay: Overlay;
}

/** The person’s accounts at tool servers, and the servers themselves for those who administer them. */
export function ServersPart({ app, desk, overlay }: ServersPartProps) {
  const seesServers = app.rights.seeServers.value;
  return (
    <>
      <ConsentList app={app} desk={desk} isAlone={!seesServers} />
      {seesServers && <ServerList desk={desk} overlay={overlay} />}
    </>
  );
}

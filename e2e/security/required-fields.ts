/** Everything that the forms of requests require. What it names does not exist, so an allowed call changes nothing. */
export const FIELDS = {
  ...{ ws_id: 'none', resume_ws: 'none', approved: true, message: 'hi', turns: 1, title: 'mine', command: '/help' },
  ...{
    role_id: 'none',
    subject: 'none',
    scopes: 'none',
    username: '',
    name: '',
    q: 'x',
    query: 'x',
    msg_id: 'none',
    model: 'none',
  },
  // The result of a call that the file does not have: refused, but only after the caller's rights were checked.
  ...{ format: 'headgate-conversation', version: 1 },
  ...{ action: 'deny', match: { tool: 'none' }, config: {}, registry_name: 'none', source: 'none' },
  ...{ path: 'none', seen: 'none' },
  ...{ send: true, revoke: [] },
  messages: [{ role: 'tool', createdMs: 0, callId: 'none', name: 'bash', output: '', outcome: 'done' }],
};
/** The same for queries. */
export const QUERY = '?path=none&q=x&msg_id=none&ws_id=none&subject=none&type=none'; // no registry is asked for this type

/** Sources of skills that nobody serves: nothing is asked of other machines. */
const CLOSED = 'http://127.0.0.1:1';
export const NOT_OUTSIDE = { skills: { discoveryUrl: CLOSED, githubApiUrl: CLOSED, githubRawUrl: CLOSED } };

/** The status of what would have asked them. */
export const SOURCE_CLOSED = 502;

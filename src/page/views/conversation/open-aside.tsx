/** Shows something beside the conversation, or over it on a narrow screen. */
export const OpenAside = ({ label, onOpen }: { label: string; onOpen(): void }) => (
  <button type="button" class="quiet open-aside" aria-label={label} title={label} onClick={onOpen}>
    Open
  </button>
);

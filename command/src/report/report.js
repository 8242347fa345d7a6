'use strict';
const form = document.querySelector('form');
if (form) {
  const rows = [...document.querySelectorAll('tbody tr')];
  const count = document.querySelector('#count');
  const update = () => {
    const words = form.elements.search.value.toLowerCase().split(/\s+/);
    const wanted = form.elements.show.value;
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || (wanted !== 'all' && row.dataset.state !== wanted);
      if (!row.hidden) shown++;
    }
    count.textContent = `${shown} of ${rows.length} servers`;
  };
  form.hidden = false;
  form.addEventListener('input', update);
  form.addEventListener('submit', (event) => event.preventDefault());
  update();
}

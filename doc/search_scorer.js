// Search results: an object of that very name, pages of the guide with the words in their title
// or file name (the earlier the better), other pages of the guide, the rest.
const searchWords = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    if (/^(user_guide\/(?!index)\w+|getting_started)$/.test(docname)) {
      const place = title.toLowerCase().indexOf(searchWords);
      const named = docname.endsWith("/" + searchWords) ? 5 : 0;
      return score + (anchor ? 6 : 12) + (place < 0 ? 0 : Math.max(15 - place / 10, 5)) + named;
    }
    return /^(changelog|api\/\w+)$/.test(docname) ? score - 12 : score;
  },
  objNameMatch: 40,
  // The defaults of Sphinx.
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

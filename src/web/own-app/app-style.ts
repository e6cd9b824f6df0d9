// The style sheet of our own applications: desktop with a side navigation, phone with a scrolling one, light and dark by the system.

const rules = `
:root{color-scheme:light dark;--page:#f3f4f9;--card:#fff;--ink:#171927;--muted:#565b72;--line:#d5d9e6;--soft:#eceef8;--strong:#6f7590;--bad:#a8201a;--bad-soft:#fdeeed;--good:#0f5f43;--good-soft:#e6f5ee}
@media (prefers-color-scheme:dark){:root{--page:#0d0f17;--card:#161925;--ink:#f0f1f8;--muted:#a9aec4;--line:#2c3145;--soft:#222739;--strong:#8189a6;--bad:#ffb3ad;--bad-soft:#3a1c1d;--good:#7fdcb4;--good-soft:#12301f}}
*,*::before,*::after{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;display:grid;grid-template:"head head" auto "nav main" 1fr / 14rem minmax(0,1fr);min-height:100vh}
header{grid-area:head;display:flex;justify-content:space-between;align-items:center;gap:1rem;padding:.7rem 1.5rem;background:var(--card);border-bottom:1px solid var(--line)}
header form{display:flex;align-items:center;gap:.9rem;color:var(--muted)}
.brand{font-weight:700;color:var(--ink);text-decoration:none;font-size:1.05rem}
nav{grid-area:nav;padding:1.2rem .8rem}
nav ul{list-style:none;margin:0;padding:0;display:grid;gap:.15rem}
nav a{display:block;padding:.5rem .8rem;border-radius:.6rem;color:var(--ink);text-decoration:none}
nav a:hover{background:var(--soft)}
nav a[aria-current]{background:var(--accent);color:var(--on-accent);font-weight:600}
main{grid-area:main;padding:1.6rem 2rem 4rem;max-width:70rem;width:100%}
main:focus{outline:none}
h1{margin:0 0 1.2rem;font-size:1.6rem;letter-spacing:-.015em}
h2{margin:2rem 0 .7rem;font-size:1.15rem}
p{margin:0 0 1rem;max-width:44rem}
.muted{color:var(--muted)}
a{color:inherit;text-decoration-color:var(--strong);text-underline-offset:.2em}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.8rem;margin:0 0 1.2rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.6rem .9rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
tbody tr:last-child td{border-bottom:0}
th{font-size:.82rem;color:var(--muted);font-weight:600;white-space:nowrap}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem 1rem;z-index:2}
.bar{display:flex;flex-wrap:wrap;gap:.7rem;align-items:end;margin:0 0 1.2rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.8rem;padding:1.2rem 1.4rem;margin:0 0 1.2rem;max-width:50rem}
.field{margin:0 0 1.05rem}
label,legend{display:block;font-weight:600;margin:0 0 .3rem;padding:0}
fieldset{border:0;margin:0 0 1.05rem;padding:0}
.hint{color:var(--muted);font-size:.86rem;margin:.25rem 0 0}
input,select,textarea{width:100%;max-width:34rem;padding:.55rem .7rem;border:1px solid var(--strong);border-radius:.6rem;background:var(--card);color:inherit;font:inherit}
textarea{min-height:6rem;font-family:ui-monospace,monospace;font-size:.9rem}
.check{display:flex;gap:.6rem;align-items:start;font-weight:400}
.check input{width:1.1rem;height:1.1rem;flex:none;margin:.2rem 0 0}
.checks{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.3rem}
button,.button{display:inline-block;padding:.55rem 1.1rem;min-height:2.6rem;border:1px solid transparent;border-radius:.6rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
button:hover,.button:hover{filter:brightness(1.08)}
.quiet{background:var(--card);color:var(--ink);border-color:var(--strong)}
.danger{background:var(--card);color:var(--bad);border-color:var(--bad)}
:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
.notice{padding:.75rem 1rem;border-radius:.7rem;font-weight:500;white-space:pre-wrap;overflow-wrap:anywhere}
.notice.good{background:var(--good-soft);color:var(--good)}
.notice.bad{background:var(--bad-soft);color:var(--bad)}
code,.mono{font-family:ui-monospace,monospace;font-size:.88em;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.45rem 1.4rem;margin:0}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
.chart{list-style:none;display:grid;gap:.5rem}
.chart li{display:grid;grid-template-columns:14rem minmax(0,1fr) 3rem;gap:.8rem;align-items:center}
.chart meter{width:100%;height:1rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:1rem;margin:0 0 1.4rem}
.tile{background:var(--card);border:1px solid var(--line);border-radius:.8rem;padding:1rem 1.2rem;text-decoration:none}
.tile b{display:block;font-size:1.7rem;line-height:1.2;font-variant-numeric:tabular-nums}
.cards{list-style:none;margin:0 0 1.2rem;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(min(20rem,100%),1fr));gap:1rem;max-width:60rem}
.cards .card{margin:0;overflow-wrap:anywhere}
.cards h2{margin:0 0 .3rem}
.cards p:last-child,.cards form:last-child{margin:.9rem 0 0}
details{margin:.9rem 0 0}summary{cursor:pointer;font-weight:600;padding:.35rem 0;min-height:1.5rem}details form{display:grid;gap:.6rem;margin:.4rem 0 0}details button{justify-self:start}
ul.tiles{list-style:none;padding:0;max-width:50rem;grid-template-columns:repeat(auto-fill,minmax(min(14rem,100%),1fr))}
.tiles li{display:grid}.tiles strong,.tiles .muted{display:block}
.events{list-style:none;padding:0}.events li{display:grid;gap:.1rem;padding:.8rem 1.4rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}.events li:last-child{border-bottom:0}.events li>.muted{font-size:.86rem}
.qr{display:block;width:min(17rem,100%);height:auto;margin:1rem 0;border-radius:.6rem}
@media (max-width:48rem){body{grid-template:"head" auto "nav" auto "main" 1fr / minmax(0,1fr)}nav{padding:.5rem .8rem;overflow-x:auto;background:var(--card);border-bottom:1px solid var(--line)}nav ul{display:flex}nav a{white-space:nowrap}main{padding:1.2rem 1rem 3rem}header{padding:.7rem 1rem}header form span{display:none}.chart li{grid-template-columns:minmax(0,1fr) 3rem}.chart meter{grid-column:1/-1;grid-row:2}dl{grid-template-columns:minmax(0,1fr);gap:.1rem}dd{margin-bottom:.6rem}}
`;

export const appStyle = rules.replaceAll('\n', '');

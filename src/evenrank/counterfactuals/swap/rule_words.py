"""Words that tell the rules what stands around a ``her`` or ``his``. Group words are here in both forms."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# none of these begins what a possessive belongs to: prepositions, particles, conjunctions, determiners,
# pronouns, question words, forms of be, have and do, modal verbs
CLOSED = _set(
    """about above across after against along among amongst around as at before behind below beneath beside
    besides between beyond but by concerning despite during except for from in inside into like near of
    off on onto opposite out outside over past per regarding since through throughout till to toward
    towards under underneath until up upon via with within without than away down forward aside apart
    and or nor yet so if because although though unless while whereas whether that lest a an the this
    these those some any no each every either neither both another such enough several i you he she it
    we they me him us them mine yours hers ours theirs my your our their its her his myself yourself
    himself herself itself ourselves yourselves themselves oneself someone somebody something anyone
    anybody anything everyone everybody everything nobody nothing none who whom whose which what when
    where why how whatever whoever whenever wherever however is are was were am be been isn't aren't
    wasn't weren't has had have hasn't hadn't haven't do does did doesn't don't didn't will would shall
    should can could may might must won't wouldn't can't cannot couldn't shouldn't not"""
)

# what may stand before a noun, or for one
OBJECTS = _set(
    """a an the this that these those my your our their its her his hers him me us them it himself herself
    itself themselves some any every each"""
)

# adverbs that end a clause or begin the next: after them nothing is possessed
CLOSING = _set(
    """here there now again today yesterday tomorrow tonight too also instead alone anyway together well
    everywhere somewhere anywhere nowhere overnight abroad upstairs downstairs indoors outdoors ago
    aboard ashore afterwards afterward sometimes later soon maybe perhaps please forever altogether
    indeed"""
)

# before an adjective, or alone
DEGREE = _set(
    """very more most less least much far so too quite rather ever always never often once still already
    just almost nearly better best worse worst first second third last next long hard"""
)

# in -ly, and no adverb
NOT_ADVERBS = _set(
    """family early elderly daily weekly monthly yearly friendly lovely lonely only assembly bully belly
    jelly fly reply ally supply monopoly melancholy anomaly holy ugly silly curly wobbly costly deadly
    likely kindly scholarly cowardly worldly orderly lively timely unlikely homily butterfly"""
)

NUMBERS = _set(
    """one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty
    hundred thousand"""
)

TIMES = _set("time times year years month months week weeks day days hour hours minute minutes")
LATER = _set("later ago earlier before after")
SEASONS = TIMES | _set(
    """night morning evening afternoon weekend spring summer autumn fall winter season term monday tuesday
    wednesday thursday friday saturday sunday january february march april may june july august september
    october november december"""
)
INSIDE = _set("in during of on for at since throughout until through")
TRY = _set("do did does doing done try tried tries trying gave give")

GIVE = _set(
    "give gave gives given giving owe owed owes owing lend lent lends grant granted grants deny denied"
)
TAKE_TIME = _set("take took takes taken taking cost costs costing earn earned earns")

# what is given and has no article
GIVEN = _set(
    """time money credit permission advice hope strength pleasure joy trouble courage space room access
    power authority food water pain nightmares chills directions instructions information shelter
    support medicine help confidence comfort trust freedom immunity asylum attention hell grief pause
    shit respect thanks flowers chocolates presents gifts drugs"""
)

MAKE = _set("make made makes making")
LET = _set("let lets letting help helped helps helping watch watched watches watching bid")
SEE = _set(
    """see saw sees seen seeing hear heard hears hearing feel felt feels notice noticed noticing observed
    witness witnessed"""
)
HAVE = _set("have had has having")
CATCH = _set(
    """find found finds finding keep kept keeps keeping leave left leaves leaving catch caught catches get
    got gets getting spot spotted imagine imagined picture pictured remember remembered show shows
    showed shown send sent sends set"""
)

# verbs in their plain form that are seldom nouns, and those that often are
VERBS = _set(
    """go come leave speak say tell know think believe become begin bring build buy carry choose decide die
    do eat enter explain fall feel find finish follow forget forgive get give grow happen hear hide hold
    join keep kneel learn lie listen live look lose make marry meet open pass pay perform pick put read
    realise realize recover relax remember repair ride rise run scream see seem sell send serve set sing
    sit sleep smile stand stay steal stop succeed suffer swim take teach throw turn understand wait wake
    walk watch wear win work write climb deal cope prepare pretend prove quit react receive escape fight
    fix breathe ask be have accept adapt add admit agree appear arrive bear belong calm close collapse
    continue cook cross cry dance disappear dress drive earn emerge explore express fly gain heal
    imagine improve laugh navigate obtain reach regain sign slip survive tremble vanish weep wonder yell"""
)
VERBS_AND_NOUNS = _set(
    "duck move return cry call talk play drink dream run walk sleep rest smile dance cook work fall help"
)

# that say what someone is, after "made her", "found her"
STATE = (
    MAKE
    | CATCH
    | _set(
        """consider considered considers considering call called calls calling think thought believe believed
    want wanted wants drive drove driven render rendered declare declared deem deemed prove proved turn
    turned like pronounce pronounced presume presumed label labelled"""
    )
)
STATES = _set(
    """able absent accountable afraid alive alone amazing angry annoying anxious ashamed asleep attractive
    awake beautiful bitter blind blush bored brave breathless broke busy calm captive careless charming
    cold comfortable compelling competent confused conscious crazy cruel curious dangerous dead deaf
    depressed desperate difficult dirty dizzy drunk dry dull dumb easy eligible embarrassed exhausted
    famous fascinating fat feeble fit foolish free funny furious gorgeous grateful guilty happy helpless
    homeless honest humble hungry ideal ill important impossible innocent insane interesting invisible
    irresistible jealous late lazy likeable liable lonely lovely lucky mad mentally miserable missing
    naked nervous nice odd old optimistic paralysed paralyzed poor popular powerful pregnant pretty
    proud quiet ready responsible restless rich rude sad safe scared selfish sexy shy sick silent sleepy
    smart sober sorry special speechless strange strong stronger stupid suspicious sweet talented tense
    thirsty tired trustworthy ugly unable uncomfortable unconscious uneasy unfit unhappy unwell upset
    useful useless vain vulnerable warm weak weaker weird well wise wonderful worried worthy wrong young"""
)

NAME = MAKE | _set(
    """elect elected elects electing appoint appointed appoints name named names crown crowned declare
    declared proclaim proclaimed ordain ordained nominate nominated vote voted choose chose call called
    calls consider considered think thought deem deemed pronounced"""
)
ROLES = _set(
    """president captain chair chairman chairwoman chairperson queen king empress emperor princess prince
    duchess duke manager director editor leader ambassador secretary minister chief head governor judge
    mayor treasurer senator principal commander professor heir heiress regent abbess abbot bishop deacon
    dean speaker spokeswoman spokesman coach champion winner valedictorian partner prisoner hostage
    guardian executor mother father godmother godfather saint"""
)

LEAD = _set(
    """take took takes taken taking bring brought brings drive drove drives driven walk walked walks follow
    followed follows send sent sends carry carried carries see saw escort escorted get got gets invite
    invited accompany accompanied lead led fly flew chase chased welcome welcomed want wanted call
    called calls keep kept drag dragged"""
)
BRING_BACK = LEAD | _set(
    """pay paid win won put give gave love loved hold held holding pull pulled push pushed text texted
    texting write wrote transfer transferred have had force forced ask asked help helped"""
)
TURN = _set("turn turned turns turning")

# an ending in -ing that is a noun, or an adjective that a noun follows
THINGS = _set(
    """being morning evening wedding feeling feelings meeting painting building clothing thing
    string earring sibling darling offspring ceiling training upbringing housing savings belongings
    earnings writing writings drawing understanding hearing blessing bearing wing spring remaining
    surviving leading outstanding existing following ongoing loving engaging charming timing reading
    acting singing"""
)
SMALL = _set("a an some any no this that these those every two three another one many several")
